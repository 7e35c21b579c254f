#include <array>
#include <vector>

#include "program/names.h"
#include "timeline/check.h"
#include "timeline/read_parts.h"
#include "timeline/trace_format.h"

namespace headroom {
namespace {

enum Key : unsigned {
    ph,
    pid,
    tid,
    name,
    ts,
    dur,
    args,
    id,
    pass,
    chunk,
    layer,
    piece,
    sequence,
    bytes,
    flops,
    waits,
    label,
    sort_index,
    keys
};
constexpr std::array<std::string_view, keys> kKeys{
    "ph",         "pid",        "tid",        "name",           "ts",         "dur",           "args",
    "args.id",    "args.pass",  "args.chunk", "args.layer",     "args.piece", "args.sequence", "args.bytes",
    "args.flops", "args.waits", "args.name",  "args.sort_index"};
constexpr std::string_view kArgs = "args.";

constexpr uint32_t bits(std::initializer_list<Key> list) {
    uint32_t all = 0;
    for (const Key key : list) all |= 1u << key;
    return all;
}

// Which keys an event of a type must have and may have.
struct Shape {
    uint32_t must = 0, may = 0;
};
constexpr Shape kOpShape{bits({ph, pid, tid, name, ts, dur, args, id, pass, bytes, flops}),
                         bits({chunk, layer, piece, sequence, waits})};
constexpr Shape kSampleShape{bits({ph, pid, name, ts, args, bytes}), 0};
constexpr Shape kMetadataShape{bits({ph, pid, name, args}), bits({tid, label, sort_index})};

// Largest value of the whole numbers.
constexpr int64_t most_of(Key key) {
    switch (key) {
        case id:
        case chunk:
            return int64_t{kNone} - 1;
        case layer:
            return int64_t{kNoLayer} - 1;
        case piece:
            return UINT16_MAX;
        case sequence:
            return UINT8_MAX;
        default:
            return INT64_MAX;
    }
}

}  // namespace

class EventsReader::Reader {
public:
    Reader(const std::string& where, Timeline& timeline, std::optional<OpId> first)
        : file_(where), t_(timeline), first_(first) {}

    // False: error() says why. Not a Result, here and below: for twenty million fields its room for an error,
    // cleared each time, took a tenth of the time.
    bool read(ondemand::value value) {
        seen_ = 0;
        number_[chunk] = kNone;
        number_[layer] = kNoLayer;
        number_[piece] = number_[sequence] = 0;
        ondemand::object object;
        if (value.get_object().get(object))
            return refuse(fail(where(), found_text(value), "an event, {...}"));
        if (!fields(object, ph, args)) return false;
        if (!has(ph)) return refuse(fail(at(ph), "it is missing", "'X', 'C' or 'M'"));
        if (!keep()) return false;
        ++event_;
        return true;
    }
    const std::string& file() const { return file_; }
    OpId first() const { return first_.value_or(0); }
    Error& error() { return *error_; }

private:
    bool refuse(tl::unexpected<Error> why) {
        error_ = std::move(why.value());
        return false;
    }
    template <class T>
    bool refuse(Result<T> why) {
        error_ = std::move(why.error());
        return false;
    }

    bool keep() {
        if (type_ == "X") return op();
        if (type_ == "C") return sample();
        if (type_ == "M") return fits(kMetadataShape);
        return refuse(fail(at(ph), fmt::format("'{}'", type_),
                           "'X' (an op), 'C' (a memory sample) or 'M' (a track's name)"));
    }

    std::string where() const { return fmt::format("{}: event {}", file_, event_); }
    std::string at(Key key) const { return at_key(where(), kKeys[key]); }
    bool has(Key key) const { return (seen_ >> key & 1u) != 0; }

    // Whether the text up to its quote is the key. Reads no further than that or the padding of the text.
    static bool is_key(const char* text, unsigned key, size_t prefix) {
        const std::string_view name = kKeys[key].substr(prefix);
        if (*text != name[0] || text[name.size()] != '"') return false;
        // Names are so short that a call of memcmp takes longer.
        for (size_t i = 1; i < name.size(); ++i)
            if (text[i] != name[i]) return false;
        return true;
    }

    // The fields of the event (ph to args) or of its args (id to sort_index).
    bool fields(ondemand::object& object, Key first, Key last) {
        const size_t prefix = first == ph ? 0 : kArgs.size();
        unsigned next = first;
        for (auto item : object) {
            if (item.error()) return refuse(not_json(where(), item.error()));
            ondemand::field&& field = std::move(item).value_unsafe();
            // They mostly come in the order of Key.
            const char* const text = field.key().raw();
            while (next <= last && !is_key(text, next, prefix)) ++next;
            unsigned key = next;
            if (key > last) {
                key = first;
                while (key <= last && !is_key(text, key, prefix)) ++key;
                if (key > last) return unknown(undecoded(field.key()), first, last);
            }
            next = key + 1;
            if (has(static_cast<Key>(key)))
                return refuse(fail(at(static_cast<Key>(key)), "it stands there twice"));
            seen_ |= 1u << key;
            if (!read_value(static_cast<Key>(key), field.value())) return false;
        }
        return true;
    }

    bool unknown(std::string_view text, Key first, Key last) {
        std::vector<std::string> known;
        for (unsigned key = first; key <= last; ++key) known.emplace_back(kKeys[key]);
        return refuse(unknown_key(
            where(), first == ph ? std::string(text) : std::string(kArgs) + std::string(text), known));
    }

    bool read_value(Key key, ondemand::value& value) {
        switch (key) {
            case ph:
                return text(key, value, type_);
            case name:
                return text(key, value, name_);
            case pass:
                return text(key, value, pass_);
            case ts:
            case dur:
                return micros(key, value);
            case args: {
                ondemand::object object;
                if (value.get_object().get(object))
                    return refuse(fail(at(key), found_text(value), "an object, {...}"));
                return fields(object, id, sort_index);
            }
            case waits:
                return read_waits(value);
            case label:
            case sort_index:
                return true;  // for the screen only
            default: {
                if (value.get_int64().get(number_[key]) || number_[key] < 0 || number_[key] > most_of(key)) {
                    return refuse(fail(at(key), found_text(value),
                                       fmt::format("a whole number from 0 to {}", most_of(key))));
                }
                return true;
            }
        }
    }

    bool text(Key key, ondemand::value& value, std::string_view& out) {
        ondemand::raw_json_string raw;
        if (value.get_raw_json_string().get(raw))
            return refuse(fail(at(key), found_text(value), "a text in quotes"));
        out = undecoded(raw);
        return true;
    }

    // By hand: a double holds microseconds with three decimals only up to 104 days.
    bool micros(Key key, ondemand::value& value) {
        const std::string_view token = value.raw_json_token();
        int64_t ns = 0;
        int decimals = -1;  // below 0: still before the point
        size_t i = 0;
        for (; i < token.size(); ++i) {
            const char c = token[i];
            if (c == '.' && decimals < 0 && i > 0) {
                decimals = 0;
            } else if (c >= '0' && c <= '9' && decimals < 3 && ns <= kLatest_ns / 10) {
                ns = ns * 10 + (c - '0');
                decimals += decimals < 0 ? 0 : 1;
            } else {
                break;
            }
        }
        const bool whole =
            i > 0 && decimals != 0 && token.find_first_not_of(" \t\r\n", i) == std::string_view::npos;
        for (int d = decimals < 0 ? 0 : decimals; d < 3; ++d)
            ns = ns <= kLatest_ns / 10 ? ns * 10 : kLatest_ns + 1;
        if (!whole || ns > kLatest_ns) {
            return refuse(fail(at(key), found_text(value),
                               "microseconds from 0 to 2^60 ns, with at most three decimals"));
        }
        number_[key] = ns;
        return true;
    }

    bool read_waits(ondemand::value& value) {
        ondemand::array array;
        if (value.get_array().get(array))
            return refuse(fail(at(waits), found_text(value), "a list of op ids"));
        for (auto item : array) {
            ondemand::value element;
            if (const auto error = std::move(item).get(element); error)
                return refuse(not_json(at(waits), error));
            int64_t op = 0;
            if (element.get_int64().get(op) || op < 0 || op >= int64_t{kNone}) {
                return refuse(fail(at(waits), found_text(element), "ids of ops"));
            }
            t_.waits.push_back(static_cast<OpId>(op));
        }
        return true;
    }

    bool fits(const Shape& shape) {
        if ((shape.must & ~seen_) == 0 && (seen_ & ~(shape.must | shape.may)) == 0) return true;
        for (unsigned key = 0; key < keys; ++key) {
            const bool present = has(static_cast<Key>(key));
            if (!present && (shape.must >> key & 1u) != 0)
                return refuse(fail(at(static_cast<Key>(key)), "it is missing", list(shape.must)));
            if (present && ((shape.must | shape.may) >> key & 1u) == 0) {
                return refuse(fail(at(static_cast<Key>(key)),
                                   fmt::format("it has no place in an event of type '{}'", type_),
                                   list(shape.must | shape.may)));
            }
        }
        return true;
    }
    static std::string list(uint32_t set) {
        std::string all;
        for (unsigned key = 0; key < keys; ++key) {
            if ((set >> key & 1u) != 0) all += (all.empty() ? "" : ", ") + std::string(kKeys[key]);
        }
        return all;
    }

    bool op() {
        if (!fits(kOpShape)) return false;
        TimelineOp op;
        const auto kind = find_op_kind(name_);
        if (!kind) return refuse(parse_op_kind(name_, at(name)));
        const auto in_pass = find_pass(pass_);
        if (!in_pass) return refuse(parse_pass(pass_, at(pass)));
        if (number_[pid] != kStepProcess)
            return refuse(fail(at(pid), fmt::format("{}", number_[pid]), fmt::format("{}", kStepProcess)));
        if (number_[tid] < 1 || number_[tid] > static_cast<int64_t>(kStreams)) {
            return refuse(fail(at(tid), fmt::format("{}", number_[tid]),
                               fmt::format("1 to {}, one a stream", kStreams)));
        }
        if (!first_) first_ = static_cast<OpId>(number_[id]);
        const size_t expected = *first_ + t_.ops.size();
        if (number_[id] != static_cast<int64_t>(expected)) {
            return refuse(fail(at(id), fmt::format("{}", number_[id]),
                               fmt::format("{}: ops stand in the order of their ids", expected)));
        }
        op.kind = *kind;
        op.pass = *in_pass;
        op.stream = static_cast<Stream>(number_[tid] - 1);
        op.start_ns = number_[ts];
        op.end_ns = number_[ts] + number_[dur];
        op.bytes = number_[bytes];
        op.flops = number_[flops];
        op.chunk = static_cast<uint32_t>(number_[chunk]);
        op.layer = static_cast<uint16_t>(number_[layer]);
        op.piece = static_cast<uint16_t>(number_[piece]);
        op.sequence = static_cast<uint8_t>(number_[sequence]);
        t_.ops.push_back(op);
        t_.waits_begin.push_back(static_cast<uint32_t>(t_.waits.size()));
        return true;
    }

    bool sample() {
        if (!fits(kSampleShape)) return false;
        const auto category = find_category(name_);
        if (!category) return refuse(parse_category(name_, at(name)));
        const int64_t tier = number_[pid] - process_of(Tier{});
        if (tier < 0 || tier >= static_cast<int64_t>(kTiers)) {
            return refuse(fail(at(pid), fmt::format("{}", number_[pid]),
                               fmt::format("{} to {}, one a tier", process_of(Tier{}),
                                           process_of(Tier{}) + static_cast<int64_t>(kTiers) - 1)));
        }
        t_.memory.push_back({number_[ts], number_[bytes], static_cast<Tier>(tier), *category});
        return true;
    }

    const std::string& file_;
    Timeline& t_;
    std::optional<OpId> first_;
    std::optional<Error> error_;
    size_t event_ = 0;
    uint32_t seen_ = 0;
    std::string_view type_, name_, pass_;
    std::array<int64_t, keys> number_{};
};

EventsReader::EventsReader(const std::string& where, Timeline& timeline, std::optional<OpId> first)
    : reader_(std::make_unique<Reader>(where, timeline, first)) {
    timeline.waits_begin.assign(1, 0);
}

EventsReader::~EventsReader() = default;

OpId EventsReader::first() const {
    return reader_->first();
}

Result<void> EventsReader::read(ondemand::array events) {
    return each_element(events, reader_->file() + ": traceEvents",
                        [&](ondemand::value value) -> Result<void> {
                            if (!reader_->read(value)) return tl::unexpected(reader_->error());
                            return {};
                        });
}

}  // namespace headroom
