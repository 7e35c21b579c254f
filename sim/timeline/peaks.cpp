#include "timeline/peaks.h"

#include <algorithm>

namespace headroom {
namespace {

using Curve = std::array<std::array<int64_t, kCategories>, kTiers>;

// visit(time, live bytes by tier and category) once an instant, after all its samples.
template <class Visit>
void each_instant(const std::vector<MemorySample>& memory, Visit&& visit) {
    Curve live{};
    for (size_t i = 0; i < memory.size(); ++i) {
        const MemorySample& sample = memory[i];
        live[static_cast<size_t>(sample.tier)][static_cast<size_t>(sample.category)] = sample.bytes;
        if (i + 1 == memory.size() || memory[i + 1].time_ns != sample.time_ns) visit(sample.time_ns, live);
    }
}

}  // namespace

std::array<Peak, kTiers> peaks_of(const Timeline& timeline) {
    std::array<Peak, kTiers> peaks{};
    each_instant(timeline.memory, [&](int64_t time_ns, const Curve& live) {
        for (size_t tier = 0; tier < kTiers; ++tier) {
            int64_t sum = 0;
            for (const int64_t bytes : live[tier]) sum += bytes;
            if (sum > peaks[tier].bytes) peaks[tier] = {sum, time_ns, kNone, live[tier]};
        }
    });
    for (size_t i = 0; i < timeline.ops.size(); ++i) {
        for (Peak& peak : peaks) {
            const int64_t start = timeline.ops[i].start_ns;
            if (peak.bytes == 0 || start > peak.time_ns) continue;
            if (peak.op == kNone || start >= timeline.ops[peak.op].start_ns) peak.op = static_cast<OpId>(i);
        }
    }
    return peaks;
}

std::array<std::array<int64_t, kCategories>, kTiers> category_peaks_of(const Timeline& timeline) {
    Curve peaks{};
    each_instant(timeline.memory, [&](int64_t, const Curve& live) {
        for (size_t tier = 0; tier < kTiers; ++tier) {
            for (size_t category = 0; category < kCategories; ++category) {
                peaks[tier][category] = std::max(peaks[tier][category], live[tier][category]);
            }
        }
    });
    return peaks;
}

}  // namespace headroom
