#include "gui/model/step_index.h"

#include <algorithm>

namespace headroom::gui {

StepIndex index_of(const Timeline& timeline) {
    StepIndex index;
    std::array<size_t, kStreams> count{};
    for (const TimelineOp& op : timeline.ops) ++count[static_cast<size_t>(op.stream)];
    for (size_t s = 0; s < kStreams; ++s) index.streams[s].reserve(count[s]);
    for (size_t i = 0; i < timeline.ops.size(); ++i)
        index.streams[static_cast<size_t>(timeline.ops[i].stream)].push_back(static_cast<OpId>(i));
    // Turned round by counting: the end of each op's waiters, then filled from the last op back.
    index.waiters_begin.assign(timeline.ops.size() + 1, 0);
    for (const OpId waited : timeline.waits) ++index.waiters_begin[waited];
    uint32_t sum = 0;
    for (uint32_t& begin : index.waiters_begin) begin = (sum += begin);
    index.waiters.resize(timeline.waits.size());
    for (size_t i = timeline.ops.size(); i-- > 0;) {
        for (const OpId waited : waits_of(timeline, static_cast<OpId>(i)))
            index.waiters[--index.waiters_begin[waited]] = static_cast<OpId>(i);
    }
    return index;
}

std::span<const OpId> StepIndex::waiters_of(OpId op) const {
    return std::span(waiters).subspan(waiters_begin[op], waiters_begin[op + 1] - waiters_begin[op]);
}

std::span<const OpId> waits_of(const Timeline& timeline, OpId op) {
    const uint32_t begin = timeline.waits_begin[op];
    return std::span(timeline.waits).subspan(begin, timeline.waits_begin[op + 1] - begin);
}

size_t first_ending_after(const Timeline& timeline, std::span<const OpId> ops, int64_t ns) {
    const auto at =
        std::partition_point(ops.begin(), ops.end(), [&](OpId op) { return timeline.ops[op].end_ns <= ns; });
    return static_cast<size_t>(at - ops.begin());
}

OpId running_at(const Timeline& timeline, std::span<const OpId> ops, int64_t ns) {
    const size_t at = first_ending_after(timeline, ops, ns);
    return at < ops.size() && timeline.ops[ops[at]].start_ns <= ns ? ops[at] : kNone;
}

OpId nearest_op(const Timeline& timeline, std::span<const OpId> ops, int64_t ns, int64_t within_ns) {
    const size_t after = first_ending_after(timeline, ops, ns);
    OpId nearest = kNone;
    int64_t distance = within_ns;
    if (after < ops.size()) {
        const int64_t to = std::max<int64_t>(0, timeline.ops[ops[after]].start_ns - ns);
        if (to <= distance) {
            nearest = ops[after];
            distance = to;
        }
    }
    if (after > 0 && ns - timeline.ops[ops[after - 1]].end_ns < distance) nearest = ops[after - 1];
    return nearest;
}

OpId neighbour(const Timeline& timeline, const StepIndex& index, OpId op, int by) {
    const std::vector<OpId>& ops = index.of(timeline.ops[op].stream);
    const auto at = std::lower_bound(ops.begin(), ops.end(), op) - ops.begin() + by;
    return at < 0 || at >= static_cast<ptrdiff_t>(ops.size()) ? kNone : ops[static_cast<size_t>(at)];
}

}  // namespace headroom::gui
