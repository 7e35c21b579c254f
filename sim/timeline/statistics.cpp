#include "timeline/statistics.h"

#include <algorithm>

#include "timeline/critical_path.h"
#include "timeline/overlap.h"
#include "timeline/peaks.h"

namespace headroom {
namespace {

void add_bytes(int64_t& sum, int64_t bytes) {
    if (__builtin_add_overflow(sum, bytes, &sum)) sum = INT64_MAX;
}

void count_ops(const Timeline& timeline, Statistics& s) {
    std::array<int64_t, static_cast<size_t>(Pass::count_)> first{};
    std::array<int64_t, static_cast<size_t>(Pass::count_)> last{};
    std::array<bool, static_cast<size_t>(Pass::count_)> any{};
    for (const TimelineOp& op : timeline.ops) {
        const int64_t time = op.end_ns - op.start_ns;
        s.duration_ns = std::max(s.duration_ns, op.end_ns);
        KindStatistics& kind = s.kinds[static_cast<size_t>(op.kind)];
        kind.min_ns = kind.count == 0 ? time : std::min(kind.min_ns, time);
        kind.max_ns = std::max(kind.max_ns, time);
        kind.total_ns += time;
        kind.flops += static_cast<double>(op.flops);
        add_bytes(kind.bytes, op.bytes);
        ++kind.count;
        StreamStatistics& stream = s.streams[static_cast<size_t>(op.stream)];
        stream.busy_ns += time;
        stream.flops += static_cast<double>(op.flops);
        add_bytes(stream.bytes, op.bytes);
        ++stream.ops;
        const auto pass = static_cast<size_t>(op.pass);
        first[pass] = any[pass] ? std::min(first[pass], op.start_ns) : op.start_ns;
        last[pass] = std::max(last[pass], op.end_ns);
        any[pass] = true;
    }
    for (size_t pass = 0; pass < any.size(); ++pass) s.pass_ns[pass] = last[pass] - first[pass];
}

void find_hidden(const Timeline& timeline, Statistics& s) {
    std::array<std::vector<Interval>, kStreams> busy;
    for (const TimelineOp& op : timeline.ops) {
        if (op.end_ns > op.start_ns) busy[static_cast<size_t>(op.stream)].push_back({op.start_ns, op.end_ns});
    }
    const std::vector<Interval>& compute = busy[static_cast<size_t>(Stream::compute)];
    for (size_t i = 0; i < kStreams; ++i) {
        if (i != static_cast<size_t>(Stream::compute)) s.streams[i].hidden_ns = overlap_ns(busy[i], compute);
    }
    static_assert(static_cast<size_t>(Stream::compute) == 0, "the others are the rest of the array");
    const std::vector<Interval> transfers = union_of(std::span(busy).subspan(1));
    const int64_t total = length_ns(transfers);
    if (total > 0)
        s.hidden_share = static_cast<double>(overlap_ns(transfers, compute)) / static_cast<double>(total);
}

}  // namespace

Statistics statistics_of(const Timeline& timeline) {
    Statistics s;
    count_ops(timeline, s);
    find_hidden(timeline, s);
    s.peaks = peaks_of(timeline);
    find_critical_path(timeline, s);
    return s;
}

}  // namespace headroom
