#include "timeline/statistics.h"

#include <algorithm>
#include <future>

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

// Time of each stream while compute is busy; and the share of the time that any but compute is.
struct Hidden {
    std::array<int64_t, kStreams> of_stream_ns{};
    double share = 1;
};
Hidden hidden_of(const Timeline& timeline) {
    Hidden hidden;
    std::array<std::vector<Interval>, kStreams> busy;
    for (const TimelineOp& op : timeline.ops) {
        if (op.end_ns > op.start_ns) busy[static_cast<size_t>(op.stream)].push_back({op.start_ns, op.end_ns});
    }
    const std::vector<Interval>& compute = busy[static_cast<size_t>(Stream::compute)];
    for (size_t i = 0; i < kStreams; ++i) {
        if (i != static_cast<size_t>(Stream::compute)) hidden.of_stream_ns[i] = overlap_ns(busy[i], compute);
    }
    static_assert(static_cast<size_t>(Stream::compute) == 0, "the others are the rest of the array");
    const std::vector<Interval> transfers = union_of(std::span(busy).subspan(1));
    const int64_t total = length_ns(transfers);
    if (total > 0)
        hidden.share = static_cast<double>(overlap_ns(transfers, compute)) / static_cast<double>(total);
    return hidden;
}

}  // namespace

Statistics statistics_of(const Timeline& timeline) {
    Statistics s;
    // Of the ops alone, as the rest is of them: on a second thread where they are many.
    constexpr size_t kMany = 100'000;
    const auto policy = timeline.ops.size() < kMany ? std::launch::deferred : std::launch::async;
    std::future<Hidden> hidden = std::async(policy, [&] { return hidden_of(timeline); });
    count_ops(timeline, s);
    s.peaks = peaks_of(timeline);
    find_critical_path(timeline, s);
    const Hidden found = hidden.get();
    for (size_t i = 0; i < kStreams; ++i) s.streams[i].hidden_ns = found.of_stream_ns[i];
    s.hidden_share = found.share;
    return s;
}

}  // namespace headroom
