#include "timeline/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace headroom {
namespace {

struct Instant {
    size_t first = 0, last = 0;  // samples [first, last)
};

// Bytes of every tier and category, as samples take effect.
class Live {
public:
    void take(const MemorySample& s) {
        int64_t& own = bytes_[index(s)];
        total_[static_cast<size_t>(s.tier)] += s.bytes - own;
        own = s.bytes;
    }
    int64_t total(size_t tier) const { return total_[tier]; }
    // Appends what differs from what was appended before.
    void append_changes(int64_t time_ns, std::vector<MemorySample>& out) {
        for (size_t i = 0; i < bytes_.size(); ++i) {
            if (bytes_[i] == told_[i]) continue;
            told_[i] = bytes_[i];
            out.push_back({time_ns, bytes_[i], static_cast<Tier>(i / kCategories),
                           static_cast<Category>(i % kCategories)});
        }
    }

private:
    static size_t index(const MemorySample& s) {
        return static_cast<size_t>(s.tier) * kCategories + static_cast<size_t>(s.category);
    }
    std::array<int64_t, kTiers * kCategories> bytes_{}, told_{};
    std::array<int64_t, kTiers> total_{};
};

std::vector<Instant> instants_of(const std::vector<MemorySample>& memory) {
    std::vector<Instant> instants;
    for (size_t i = 0; i < memory.size();) {
        size_t end = i;
        while (end < memory.size() && memory[end].time_ns == memory[i].time_ns) ++end;
        instants.push_back({i, end});
        i = end;
    }
    return instants;
}

std::vector<MemorySample> fewer_samples(const std::vector<MemorySample>& memory, int64_t parts) {
    if (memory.empty()) return {};
    const std::vector<Instant> instants = instants_of(memory);
    const int64_t width_ns = ceil_div(memory.back().time_ns + 1, parts);
    const auto part_of = [&](const Instant& i) { return memory[i.first].time_ns / width_ns; };
    std::set<size_t> kept;
    std::array<size_t, kTiers> fullest{};
    std::array<int64_t, kTiers> most{};
    Live live;
    for (size_t i = 0; i < instants.size(); ++i) {
        const bool begins = i == 0 || part_of(instants[i]) != part_of(instants[i - 1]);
        for (size_t s = instants[i].first; s < instants[i].last; ++s) live.take(memory[s]);
        for (size_t tier = 0; tier < kTiers; ++tier) {
            if (begins || live.total(tier) > most[tier]) {
                most[tier] = live.total(tier);
                fullest[tier] = i;
            }
        }
        const bool ends = i + 1 == instants.size() || part_of(instants[i]) != part_of(instants[i + 1]);
        if (!ends) continue;
        kept.insert(fullest.begin(), fullest.end());
        kept.insert(i);
    }
    std::vector<MemorySample> out;
    Live again;
    for (size_t i = 0; i < instants.size(); ++i) {
        for (size_t s = instants[i].first; s < instants[i].last; ++s) again.take(memory[s]);
        if (kept.contains(i)) again.append_changes(memory[instants[i].first].time_ns, out);
    }
    return out;
}

Result<void> check_rule(const Timeline& t, const ExcerptRule& rule, const std::string& where) {
    if (!t.excerpt.empty()) return fail(where, "an excerpt already (" + t.excerpt + ")", "a whole timeline");
    if (rule.instants < 1) return fail(where, fmt::format("{} instants", rule.instants), "1 or more");
    if (rule.chunks.empty()) return fail(where, "no chunks", "one or more");
    uint32_t last = 0;
    for (const TimelineOp& op : t.ops)
        if (op.chunk != kNone) last = std::max(last, op.chunk);
    for (const uint32_t c : rule.chunks) {
        if (c > last)
            return fail(where, fmt::format("chunk {}", c), fmt::format("0 to {}, which it has", last));
    }
    return {};
}

// Ops, waits and the words about them; no memory.
Timeline ops_of(const Timeline& t, const std::vector<uint32_t>& wanted) {
    Timeline out;
    out.source = t.source;
    out.plan = t.plan;
    out.plan_hash = t.plan_hash;
    out.selection_source = t.selection_source;
    out.machine = t.machine;
    out.date = t.date;
    out.rates = t.rates;
    out.results = t.results;
    out.capacity_bytes = t.capacity_bytes;
    out.traffic = t.traffic;
    std::vector<OpId> renamed(t.ops.size(), kNone);
    out.waits_begin.push_back(0);
    for (size_t i = 0; i < t.ops.size(); ++i) {
        const TimelineOp& op = t.ops[i];
        if (op.chunk != kNone && !std::binary_search(wanted.begin(), wanted.end(), op.chunk)) continue;
        renamed[i] = static_cast<OpId>(out.ops.size());
        out.ops.push_back(op);
        for (uint32_t w = t.waits_begin[i]; w < t.waits_begin[i + 1]; ++w)
            if (renamed[t.waits[w]] != kNone) out.waits.push_back(renamed[t.waits[w]]);
        out.waits_begin.push_back(static_cast<uint32_t>(out.waits.size()));
    }
    std::string chunks;
    for (const uint32_t c : wanted) chunks += (chunks.empty() ? "" : ", ") + std::to_string(c);
    out.excerpt = fmt::format("{} of {} operations: those of chunks {}",
                              format_integer(static_cast<int64_t>(out.ops.size())),
                              format_integer(static_cast<int64_t>(t.ops.size())), chunks);
    return out;
}

}  // namespace

Result<Timeline> excerpt(const Timeline& t, const ExcerptRule& rule, const std::string& where) {
    HEADROOM_CHECK(check_rule(t, rule, where));
    Timeline out = ops_of(t, rule.chunks);
    out.memory = fewer_samples(t.memory, rule.instants);
    return out;
}

Result<Timeline> cut_like(const Timeline& whole, const Timeline& part, const std::string& where) {
    std::set<uint32_t> chunks;
    for (const TimelineOp& op : part.ops)
        if (op.chunk != kNone) chunks.insert(op.chunk);
    const ExcerptRule rule{{chunks.begin(), chunks.end()}};
    HEADROOM_CHECK(check_rule(whole, rule, where));
    Timeline out = ops_of(whole, rule.chunks);
    out.memory = whole.memory;
    return out;
}

}  // namespace headroom
