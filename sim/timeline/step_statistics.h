// Statistics of any step whose ops have times: a timeline, or a program beside its simulation, which need not
// become a timeline for it.
//
// A Step has
//     size_t size() const;              ops, in the order of their ids
//     TimelineOp op(size_t id) const;   by value or by reference; what is not asked for costs nothing
//     waits(size_t id) const            a range of the ids that it waits for
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <span>
#include <vector>

#include "timeline/overlap.h"
#include "timeline/statistics.h"

namespace headroom {
namespace detail {

inline void add_bytes(int64_t& sum, int64_t bytes) {
    if (__builtin_add_overflow(sum, bytes, &sum)) sum = INT64_MAX;
}

template <class Step>
void count_ops(const Step& step, Statistics& s) {
    std::array<int64_t, static_cast<size_t>(Pass::count_)> first{};
    std::array<int64_t, static_cast<size_t>(Pass::count_)> last{};
    std::array<bool, static_cast<size_t>(Pass::count_)> any{};
    for (size_t i = 0; i < step.size(); ++i) {
        const TimelineOp& op = step.op(i);
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
template <class Step>
Hidden hidden_of(const Step& step) {
    Hidden hidden;
    std::array<std::vector<Interval>, kStreams> busy;
    for (size_t i = 0; i < step.size(); ++i) {
        const TimelineOp& op = step.op(i);
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

// For every op the one before it on its stream, kNone for the first.
template <class Step>
std::vector<OpId> stream_predecessors(const Step& step) {
    std::array<OpId, kStreams> last;
    last.fill(kNone);
    std::vector<OpId> before(step.size());
    for (size_t i = 0; i < step.size(); ++i) {
        const TimelineOp& op = step.op(i);
        OpId& own = last[static_cast<size_t>(op.stream)];
        before[i] = own;
        own = static_cast<OpId>(i);
    }
    return before;
}

// duration_ns is already there, and is the sum of critical_ns and critical_gap_ns.
template <class Step>
void find_critical_path(const Step& step, Statistics& statistics) {
    const auto end_of = [&](OpId id) {
        const TimelineOp& op = step.op(id);
        return op.end_ns;
    };
    const auto later = [&](OpId a, OpId b) {  // kNone is the earliest
        if (a == kNone || b == kNone) return b == kNone ? a : b;
        const int64_t end_a = end_of(a), end_b = end_of(b);
        if (end_a != end_b) return end_a > end_b ? a : b;
        return std::min(a, b);
    };
    const std::vector<OpId> before = stream_predecessors(step);
    OpId id = kNone;
    for (size_t i = 0; i < step.size(); ++i) id = later(id, static_cast<OpId>(i));
    // Everything from `cursor` on is accounted for. Clocks of a measured run may let an op start a little
    // before the end of one that it waited for: that piece of time is counted once, for the later op.
    int64_t cursor = statistics.duration_ns;
    while (id != kNone) {
        const TimelineOp& op = step.op(id);
        statistics.critical_path.push_back(id);
        const int64_t end = std::min(cursor, op.end_ns);
        const int64_t start = std::min(end, op.start_ns);
        statistics.critical_gap_ns += cursor - end;
        statistics.critical_ns[static_cast<size_t>(op.kind)] += end - start;
        cursor = start;
        OpId previous = before[id];
        for (const auto wait : step.waits(id)) previous = later(previous, static_cast<OpId>(wait));
        id = previous;
    }
    statistics.critical_gap_ns += cursor;
    std::reverse(statistics.critical_path.begin(), statistics.critical_path.end());
}

}  // namespace detail

// All but the peaks, which are of memory. Cost: linear in ops and waits; long steps take a second thread.
template <class Step>
Statistics step_statistics(const Step& step) {
    Statistics s;
    constexpr size_t kLong = 100'000;
    const auto policy = step.size() < kLong ? std::launch::deferred : std::launch::async;
    std::future<detail::Hidden> hidden = std::async(policy, [&] { return detail::hidden_of(step); });
    detail::count_ops(step, s);
    detail::find_critical_path(step, s);
    const detail::Hidden found = hidden.get();
    for (size_t i = 0; i < kStreams; ++i) s.streams[i].hidden_ns = found.of_stream_ns[i];
    s.hidden_share = found.share;
    return s;
}

}  // namespace headroom
