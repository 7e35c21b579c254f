#include "timeline/critical_path.h"

#include <algorithm>

namespace headroom {
namespace {

// For every op the one before it on its stream, kNone for the first.
std::vector<OpId> stream_predecessors(const std::vector<TimelineOp>& ops) {
    std::array<OpId, kStreams> last;
    last.fill(kNone);
    std::vector<OpId> before(ops.size());
    for (size_t i = 0; i < ops.size(); ++i) {
        OpId& own = last[static_cast<size_t>(ops[i].stream)];
        before[i] = own;
        own = static_cast<OpId>(i);
    }
    return before;
}

}  // namespace

void find_critical_path(const Timeline& timeline, Statistics& statistics) {
    const std::vector<TimelineOp>& ops = timeline.ops;
    const auto later = [&](OpId a, OpId b) {  // kNone is the earliest
        if (a == kNone || b == kNone) return b == kNone ? a : b;
        if (ops[a].end_ns != ops[b].end_ns) return ops[a].end_ns > ops[b].end_ns ? a : b;
        return std::min(a, b);
    };
    const std::vector<OpId> before = stream_predecessors(ops);
    OpId op = kNone;
    for (size_t i = 0; i < ops.size(); ++i) op = later(op, static_cast<OpId>(i));
    // Everything from `cursor` on is accounted for. Clocks of a measured run may let an op start a little
    // before the end of one that it waited for: that piece of time is counted once, for the later op.
    int64_t cursor = statistics.duration_ns;
    while (op != kNone) {
        statistics.critical_path.push_back(op);
        const int64_t end = std::min(cursor, ops[op].end_ns);
        const int64_t start = std::min(end, ops[op].start_ns);
        statistics.critical_gap_ns += cursor - end;
        statistics.critical_ns[static_cast<size_t>(ops[op].kind)] += end - start;
        cursor = start;
        OpId previous = before[op];
        for (uint32_t w = timeline.waits_begin[op]; w < timeline.waits_begin[op + 1]; ++w) {
            previous = later(previous, timeline.waits[w]);
        }
        op = previous;
    }
    statistics.critical_gap_ns += cursor;
    std::reverse(statistics.critical_path.begin(), statistics.critical_path.end());
}

}  // namespace headroom
