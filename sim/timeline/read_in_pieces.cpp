// A trace read without its text ever standing there whole, which for a million ops would be 270 MB: pieces
// are parsed side by side, each within a core's cache, and the text is unpacked beside them.
//
// Why the pieces are the whole. A valid JSON text has no line break within a string, so after ",\n{" comes a
// value of some list or object. Text is cut there, wherever that is. Each part stands in brackets of its own
// and has to be a list, and what lies before them has to be an object whose last key is "traceEvents" once
// "]}" closes it. If all of that holds, every cut lies between two events, and parts and commas make up the
// list.
#include <algorithm>
#include <array>
#include <future>
#include <thread>

#include "timeline/read_parts.h"

namespace headroom {
namespace {

constexpr std::string_view kEvents = "\n\"traceEvents\":[";
constexpr std::string_view kCut = ",\n{";
// Unpacking keeps up with no more.
constexpr size_t kMostParsers = 4;

// Events in brackets of their own, and what they say.
struct Piece {
    std::string text;
    ondemand::parser parser;
    Timeline events;
    OpId first = 0;
    std::future<bool> read;  // last: waited for before the rest goes

    bool parse(const std::string& where) {
        text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
        const simdjson::padded_string_view padded(text.data(), text.size(), text.capacity());
        events.ops.clear();
        events.waits.clear();
        events.memory.clear();
        EventsReader reader(where, events, std::nullopt);
        ondemand::document document;
        ondemand::array list;
        if (parser.iterate(padded).get(document) || document.get_array().get(list) || !reader.read(list) ||
            document.current_location().error() != simdjson::OUT_OF_BOUNDS)
            return false;
        first = reader.first();
        return true;
    }
};

// For as many as the file says there are, if that can be.
void make_room(const TraceCounts& counts, Timeline& t) {
    const auto room = [](int64_t count) {
        return static_cast<size_t>(std::clamp<int64_t>(count, 0, int64_t{16} << 20));
    };
    t.ops.reserve(room(counts.ops));
    t.waits_begin.reserve(room(counts.ops) + 1);
    t.waits.reserve(room(counts.waits));
    t.memory.reserve(room(counts.samples));
}

// What stands behind all that `t` has.
void append(const Timeline& events, Timeline& t) {
    const auto waits = static_cast<uint32_t>(t.waits.size());
    t.ops.insert(t.ops.end(), events.ops.begin(), events.ops.end());
    for (size_t i = 1; i < events.waits_begin.size(); ++i)
        t.waits_begin.push_back(waits + events.waits_begin[i]);
    t.waits.insert(t.waits.end(), events.waits.begin(), events.waits.end());
    t.memory.insert(t.memory.end(), events.memory.begin(), events.memory.end());
}

class PieceReader {
public:
    PieceReader(const TextPieces& pieces, const std::string& where, size_t piece_bytes)
        : pieces_(pieces),
          where_(where),
          piece_bytes_(piece_bytes),
          parsers_(std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostParsers)) {}

    std::optional<Timeline> read() {
        TraceParts parts;
        if (!head(parts)) return std::nullopt;
        parts.timeline.waits_begin.assign(1, 0);
        make_room(parts.counts, parts.timeline);
        for (bool ended = false; !ended;) {
            if (!more(ended) || (ended && !close())) return std::nullopt;
            const size_t end = ended ? text_.size() : text_.rfind(kCut);
            if (end != std::string::npos && !list(parts.timeline, end)) return std::nullopt;
        }
        for (size_t i = 0; i < parsers_; ++i)
            if (!take(parts.timeline)) return std::nullopt;
        Result<Timeline> timeline = finish(std::move(parts), where_);
        return timeline ? std::optional(std::move(*timeline)) : std::nullopt;
    }

private:
    // One more piece behind text_. False: it cannot be read.
    bool more(bool& ended) {
        const size_t before = text_.size();
        text_.resize(before + piece_bytes_);
        const Result<size_t> n = pieces_({text_.data() + before, piece_bytes_});
        text_.resize(before + (n ? *n : 0));
        ended = n && *n == 0;
        return n.has_value();
    }

    // What comes before the events; text_ then begins with the bracket of their list.
    bool head(TraceParts& parts) {
        size_t at = std::string::npos;
        for (size_t looked = 0; at == std::string::npos;) {
            bool ended = false;
            if (!more(ended) || ended) return false;
            at = text_.find(kEvents, looked);
            looked = text_.size() - std::min(text_.size(), kEvents.size() - 1);
        }
        at += kEvents.size();
        simdjson::padded_string head(text_.substr(0, at) + "]}");
        Result<TraceParts> read = read_parts(head, where_);
        if (!read || !read->events) return false;
        parts = std::move(*read);
        text_.erase(0, at - 1);
        return true;
    }

    // text_ without what closes the trace.
    bool close() {
        constexpr std::string_view kSpace = " \t\r\n";
        const auto strip = [&](char last) {
            const size_t end = text_.find_last_not_of(kSpace);
            if (end == std::string::npos || text_[end] != last) return false;
            text_.resize(end);
            return true;
        };
        return strip('}') && strip(']');
    }

    // Has the events up to `end` parsed; text_ then begins with the bracket of those behind it.
    bool list(Timeline& t, size_t end) {
        if (!take(t)) return false;
        Piece& piece = ring_[(next_ + parsers_ - 1) % parsers_];
        piece.text.assign(text_, 0, end) += ']';
        if (end == text_.size()) text_ += ',';
        text_[end] = '[';
        text_.erase(0, end);
        piece.read = std::async(std::launch::async, [this, &piece] { return piece.parse(where_); });
        return true;
    }

    // What the oldest piece says, if there is one, goes behind all that `t` has.
    bool take(Timeline& t) {
        Piece& piece = ring_[next_];
        next_ = (next_ + 1) % parsers_;
        if (!piece.read.valid()) return true;
        if (!piece.read.get()) return false;
        if (!piece.events.ops.empty() && piece.first != t.ops.size()) return false;
        append(piece.events, t);
        return true;
    }

    const TextPieces& pieces_;
    const std::string& where_;
    const size_t piece_bytes_;
    const size_t parsers_;
    std::string text_;
    std::array<Piece, kMostParsers> ring_;
    size_t next_ = 0;  // the oldest piece, where the next one goes
};

}  // namespace

std::optional<Timeline> read_in_pieces(const TextPieces& pieces, const std::string& where,
                                       size_t piece_bytes) {
    return PieceReader(pieces, where, piece_bytes).read();
}

}  // namespace headroom
