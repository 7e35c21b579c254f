#include "fidelity/figures.h"

#include <algorithm>
#include <map>

#include "timeline/peaks.h"
#include "timeline/statistics.h"

namespace headroom::fidelity {
namespace {

void add_bytes(int64_t& sum, int64_t bytes) {
    if (__builtin_add_overflow(sum, bytes, &sum)) sum = INT64_MAX;
}

std::vector<KindFigures> kinds_of(const std::vector<TimelineOp>& ops) {
    std::map<std::pair<Stream, OpKind>, std::pair<KindFigures, std::vector<int64_t>>> kinds;
    for (const TimelineOp& op : ops) {
        auto& [k, times] = kinds[{op.stream, op.kind}];
        k.kind = op.kind;
        k.stream = op.stream;
        times.push_back(op.end_ns - op.start_ns);
        k.total_ns += times.back();
        k.flops += static_cast<double>(op.flops);
        add_bytes(k.bytes, op.bytes);
    }
    std::vector<KindFigures> out;
    for (auto& [key, value] : kinds) {
        auto& [k, times] = value;
        std::sort(times.begin(), times.end());
        k.count = static_cast<int64_t>(times.size());
        k.min_ns = times.front();
        k.median_ns = times[(times.size() - 1) / 2];
        k.max_ns = times.back();
        out.push_back(k);
    }
    return out;
}

// A value holds from its sample to the next one of its category: it counts in every part that it reaches.
std::vector<MemoryBins> bins_of(const Timeline& t, int64_t duration_ns, int64_t bins) {
    std::vector<MemoryBins> out;
    if (bins <= 0 || duration_ns <= 0) return out;
    const auto bin_at = [&](int64_t time) {
        return std::min(bins - 1,
                        static_cast<int64_t>(static_cast<double>(time) / static_cast<double>(duration_ns) *
                                             static_cast<double>(bins)));
    };
    std::map<std::pair<Tier, Category>, std::vector<std::pair<int64_t, int64_t>>> values;
    for (const MemorySample& s : t.memory) {
        auto& list = values[{s.tier, s.category}];
        // All samples of one instant are in effect together: the last one counts.
        if (!list.empty() && list.back().first == s.time_ns)
            list.back().second = s.bytes;
        else
            list.emplace_back(s.time_ns, s.bytes);
    }
    for (const auto& [key, list] : values) {
        MemoryBins b{key.first, key.second, std::vector<int64_t>(bins, INT64_MAX),
                     std::vector<int64_t>(bins, 0)};
        const auto hold = [&](int64_t from, int64_t to, int64_t bytes) {
            for (int64_t i = bin_at(from); i <= bin_at(to); ++i) {
                b.least[i] = std::min(b.least[i], bytes);
                b.most[i] = std::max(b.most[i], bytes);
            }
        };
        if (list.front().first > 0) hold(0, list.front().first - 1, 0);
        for (size_t i = 0; i < list.size(); ++i)
            hold(list[i].first, i + 1 < list.size() ? list[i + 1].first - 1 : duration_ns, list[i].second);
        if (std::any_of(b.most.begin(), b.most.end(), [](int64_t v) { return v > 0; }))
            out.push_back(std::move(b));
    }
    return out;
}

}  // namespace

Figures figures_of(const Timeline& timeline, int64_t bins) {
    const Statistics s = statistics_of(timeline);
    const auto category_peaks = category_peaks_of(timeline);
    Figures f;
    f.step_ns = s.duration_ns;
    f.ops = static_cast<int64_t>(timeline.ops.size());
    f.pass_ns = s.pass_ns;
    f.kinds = kinds_of(timeline.ops);
    for (size_t i = 0; i < kStreams; ++i) {
        f.busy_ns[i] = s.streams[i].busy_ns;
        f.hidden_ns[i] = s.streams[i].hidden_ns;
    }
    f.hidden_share = s.hidden_share;
    for (size_t i = 0; i < kTiers; ++i)
        f.tiers[i] = {s.peaks[i].bytes, s.peaks[i].by_category, category_peaks[i]};
    for (const Traffic& t : timeline.traffic) {
        f.traffic.selected += t.selected;
        f.traffic.loaded += t.loaded;
        f.traffic.hit += t.hit;
        f.traffic.gradients_loaded += t.gradients_loaded;
        f.traffic.written_back += t.written_back;
        f.traffic.first_touched += t.first_touched;
        add_bytes(f.traffic.loaded_bytes, t.loaded_bytes);
        add_bytes(f.traffic.written_bytes, t.written_bytes);
    }
    f.curves = bins_of(timeline, f.step_ns, bins);
    return f;
}

}  // namespace headroom::fidelity
