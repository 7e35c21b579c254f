#include "timeline/check.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>

#include "program/names.h"

namespace headroom {
namespace {

std::string op_at(const std::string& where, size_t id) {
    return fmt::format("{}: op {}", where, id);
}

Result<void> check_texts(const Timeline& t, const std::string& where) {
    if (t.source != "simulated" && t.source != "measured") {
        return fail(where + ": key 'source'", "'" + t.source + "'", "'simulated' or 'measured'");
    }
    const std::pair<const char*, const std::string*> texts[] = {
        {"plan_hash", &t.plan_hash}, {"selection_source", &t.selection_source},
        {"machine", &t.machine},     {"date", &t.date},
        {"rates", &t.rates},         {"plan", &t.plan},
        {"excerpt", &t.excerpt}};
    for (const auto& [key, text] : texts) {
        if (!simdjson::validate_utf8(*text))
            return fail(fmt::format("{}: key '{}'", where, key), "bytes that are not UTF-8", "UTF-8 text");
    }
    if (!t.plan.empty()) {
        simdjson::dom::parser parser;
        simdjson::dom::element plan;
        if (const auto error = parser.parse(t.plan).get(plan); error) {
            return fail(where + ": key 'plan'", fmt::format("not JSON ({})", simdjson::error_message(error)),
                        "the plan as a JSON object");
        }
        if (!plan.is_object())
            return fail(where + ": key 'plan'", "JSON that is not an object", "the plan as a JSON object");
    }
    for (const auto& [key, value] : t.results) {
        if (!simdjson::validate_utf8(key))
            return fail(where + ": key 'results'", "a name that is not UTF-8", "UTF-8 text");
        if (!std::isfinite(value))
            return fail(fmt::format("{}: key 'results.{}'", where, key), fmt::format("{}", value),
                        "a finite number");
    }
    for (size_t tier = 0; tier < kTiers; ++tier) {
        if (t.capacity_bytes[tier] < 0) {
            return fail(fmt::format("{}: key 'capacity_bytes.{}'", where, name_of(static_cast<Tier>(tier))),
                        fmt::format("{}", t.capacity_bytes[tier]), "0 (no such tier) or more");
        }
    }
    return {};
}

Result<void> check_ops(const Timeline& t, const std::string& where) {
    if (t.ops.size() >= kNone)
        return fail(where, fmt::format("{} ops", t.ops.size()), fmt::format("below {}", kNone));
    std::array<OpId, kStreams> before;
    before.fill(kNone);
    for (size_t i = 0; i < t.ops.size(); ++i) {
        const TimelineOp& op = t.ops[i];
        if (op.kind >= OpKind::count_ || op.stream >= Stream::count_ || op.pass >= Pass::count_) {
            return fail(op_at(where, i), "a kind, stream or pass that does not exist");
        }
        if (op.start_ns < 0 || op.start_ns > kLatest_ns) {
            return fail(op_at(where, i), fmt::format("a start of {} ns", op.start_ns),
                        fmt::format("0 to {}", kLatest_ns));
        }
        if (op.end_ns < op.start_ns || op.end_ns > kLatest_ns) {
            return fail(op_at(where, i), fmt::format("a duration of {} ns", op.end_ns - op.start_ns),
                        "0 or more, ending within 2^60 ns");
        }
        if (op.bytes < 0) return fail(op_at(where, i), fmt::format("{} bytes", op.bytes), "0 or more");
        if (op.flops < 0) return fail(op_at(where, i), fmt::format("{} flops", op.flops), "0 or more");
        OpId& previous = before[static_cast<size_t>(op.stream)];
        if (previous != kNone && t.ops[previous].end_ns > op.start_ns) {
            return fail(op_at(where, i),
                        fmt::format("it starts at {} ns, before op {} of the same stream ({}) ends at {} ns",
                                    op.start_ns, previous, name_of(op.stream), t.ops[previous].end_ns),
                        "ops of one stream one after the other, in id order");
        }
        previous = static_cast<OpId>(i);
    }
    return {};
}

Result<void> check_waits(const Timeline& t, const std::string& where) {
    if (t.waits_begin.size() != t.ops.size() + 1 || t.waits_begin.front() != 0 ||
        t.waits_begin.back() != t.waits.size()) {
        return fail(where, fmt::format("{} offsets of waits for {} ops", t.waits_begin.size(), t.ops.size()),
                    "one offset an op and one more, from 0 to the count of waits");
    }
    for (size_t i = 0; i < t.ops.size(); ++i) {
        if (t.waits_begin[i + 1] < t.waits_begin[i] || t.waits_begin[i + 1] > t.waits.size()) {
            return fail(op_at(where, i), "offsets of waits that do not ascend");
        }
        for (uint32_t w = t.waits_begin[i]; w < t.waits_begin[i + 1]; ++w) {
            if (t.waits[w] >= i)
                return fail(op_at(where, i), fmt::format("it waits for op {}", t.waits[w]),
                            "ops of lower id");
        }
    }
    return {};
}

Result<void> check_memory(const Timeline& t, const std::string& where) {
    std::array<std::array<int64_t, kCategories>, kTiers> live{};
    std::array<int64_t, kTiers> total{};
    int64_t before = 0;
    for (size_t i = 0; i < t.memory.size(); ++i) {
        const MemorySample& s = t.memory[i];
        const auto at = [&] { return fmt::format("{}: memory sample {}", where, i); };
        if (s.tier >= Tier::count_ || s.category >= Category::count_)
            return fail(at(), "a tier or category that does not exist");
        if (s.time_ns < before || s.time_ns > kLatest_ns) {
            return fail(at(), fmt::format("a time of {} ns", s.time_ns),
                        fmt::format("{} (the sample before) to {}", before, kLatest_ns));
        }
        if (s.bytes < 0) return fail(at(), fmt::format("{} bytes", s.bytes), "0 or more");
        before = s.time_ns;
        int64_t& own = live[static_cast<size_t>(s.tier)][static_cast<size_t>(s.category)];
        int64_t& sum = total[static_cast<size_t>(s.tier)];
        if (__builtin_add_overflow(sum - own, s.bytes, &sum)) {
            return fail(at(), fmt::format("{} bytes, with the other categories more than 2^63 - 1", s.bytes),
                        "a sum below 2^63");
        }
        own = s.bytes;
    }
    return {};
}

Result<void> check_traffic(const Timeline& t, const std::string& where) {
    for (size_t i = 0; i < t.traffic.size(); ++i) {
        const Traffic& row = t.traffic[i];
        if (row.pass >= Pass::count_ || row.loaded_bytes < 0 || row.written_bytes < 0) {
            return fail(fmt::format("{}: traffic row {}", where, i),
                        "a pass that does not exist or negative bytes");
        }
    }
    return {};
}

}  // namespace

Result<void> check_timeline(const Timeline& timeline, const std::string& where) {
    HEADROOM_CHECK(check_texts(timeline, where));
    HEADROOM_CHECK(check_ops(timeline, where));
    HEADROOM_CHECK(check_waits(timeline, where));
    HEADROOM_CHECK(check_memory(timeline, where));
    return check_traffic(timeline, where);
}

}  // namespace headroom
