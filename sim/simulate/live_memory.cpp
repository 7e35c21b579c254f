#include "simulate/live_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace headroom {
namespace {

// Bytes that every order of the changes stays below; anything larger could wrap.
Result<void> check_sums(const Program& program) {
    constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
    uint64_t sum = 0;
    bool fits = true;
    const auto add = [&](int64_t bytes) {
        const auto value = static_cast<uint64_t>(bytes);
        sum += bytes < 0 ? 0 - value : value;  // both below or at 2^63: no wrap
        fits = fits && sum <= kMost;
        sum = std::min(sum, kMost);
    };
    for (const auto& tier : program.standing)
        for (const int64_t bytes : tier) add(bytes);
    for (const MemoryChange& change : program.changes) add(change.bytes);
    if (!fits) {
        return fail("memory of the step", "changes of more than 2^63 - 1 bytes in all", "a sum below 2^63",
                    Fault::run_failed);
    }
    return {};
}

Result<void> check_changes(const Program& program) {
    OpId before = 0;
    for (size_t i = 0; i < program.changes.size(); ++i) {
        const MemoryChange& change = program.changes[i];
        if (change.op >= program.size() || change.op < before || change.tier >= Tier::count_ ||
            change.category >= Category::count_) {
            return fail(fmt::format("memory change {}", i),
                        fmt::format("op {}, tier {}, category {}", change.op, static_cast<int>(change.tier),
                                    static_cast<int>(change.category)),
                        fmt::format("op {} to {}, an existing tier and category", before,
                                    static_cast<int64_t>(program.size()) - 1),
                        Fault::run_failed);
        }
        before = change.op;
    }
    return {};
}

}  // namespace

Result<LiveMemory> LiveMemory::of(const Program& program, bool keep_curve) {
    HEADROOM_CHECK(check_changes(program));
    HEADROOM_CHECK(check_sums(program));
    LiveMemory memory;
    const auto list_of = [&](const MemoryChange& change) {
        return static_cast<size_t>(program.ops[change.op].stream) * 2 + (change.at_end ? 1 : 0);
    };
    std::array<size_t, 2 * kStreams> next{};
    for (const MemoryChange& change : program.changes) ++next[list_of(change)];
    size_t begin = 0;
    for (size_t list = 0; list < next.size(); ++list) {
        const size_t count = next[list];
        next[list] = begin;
        begin += count + 1;  // the sentinel: a default Change, of no op
    }
    memory.changes_.resize(begin);
    for (size_t s = 0; s < kStreams; ++s) {
        memory.starts_[s] = memory.changes_.data() + next[2 * s];
        memory.ends_[s] = memory.changes_.data() + next[2 * s + 1];
    }
    for (const MemoryChange& change : program.changes) {
        const size_t slot =
            static_cast<size_t>(change.tier) * kCategories + static_cast<size_t>(change.category);
        memory.changes_[next[list_of(change)]++] = {change.bytes, change.op, static_cast<uint32_t>(slot)};
    }
    memory.keep_curve_ = keep_curve;
    for (size_t slot = 0; slot < kSlots; ++slot) {
        memory.live_[slot] = program.standing[slot / kCategories][slot % kCategories];
        if (memory.live_[slot] != 0) memory.touched_ |= uint64_t{1} << slot;
    }
    return memory;
}

void LiveMemory::record(int64_t now_ns, OpId last_started) {
    std::array<bool, kTiers> more{};
    for (; touched_ != 0; touched_ &= touched_ - 1) {
        const auto slot = static_cast<size_t>(std::countr_zero(touched_));
        const int64_t live = live_[slot], change = live - settled_[slot];
        if (change == 0) continue;
        const size_t tier = slot / kCategories;
        settled_[slot] = live;
        total_[tier] += change;
        more[tier] = true;
        const MemorySample sample{now_ns, live, static_cast<Tier>(tier),
                                  static_cast<Category>(slot % kCategories)};
        if (live < 0 && !negative_) negative_ = sample;
        if (keep_curve_) curve_.push_back(sample);
    }
    for (size_t tier = 0; tier < kTiers; ++tier) {
        if (!more[tier] || total_[tier] <= peaks_[tier].bytes) continue;
        Peak& peak = peaks_[tier];
        peak.bytes = total_[tier];
        peak.time_ns = now_ns;
        peak.op = last_started;
        std::copy_n(settled_.begin() + static_cast<std::ptrdiff_t>(tier * kCategories), kCategories,
                    peak.by_category.begin());
    }
}

}  // namespace headroom
