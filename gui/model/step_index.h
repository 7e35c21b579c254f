// Where to find the ops of a timeline: by stream in order of time, and by who waits for whom.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "timeline/timeline.h"

namespace headroom::gui {

// Contract: made of one timeline and of use only with it. 4 bytes an op and 4 a wait.
struct StepIndex {
    // Ops of each stream; ids and times ascend.
    std::array<std::vector<OpId>, kStreams> streams;
    // Op i is waited for by waiters[waiters_begin[i] .. waiters_begin[i + 1]), ascending.
    std::vector<uint32_t> waiters_begin;
    std::vector<OpId> waiters;

    const std::vector<OpId>& of(Stream s) const { return streams[static_cast<size_t>(s)]; }
    std::span<const OpId> waiters_of(OpId op) const;
};
// Cost: linear.
StepIndex index_of(const Timeline& timeline);

std::span<const OpId> waits_of(const Timeline& timeline, OpId op);

// Position in `ops` (of one stream) of the first op that ends after `ns`; ops.size(): none does. Cost:
// logarithmic.
size_t first_ending_after(const Timeline& timeline, std::span<const OpId> ops, int64_t ns);
// The op of the stream that runs at `ns`; kNone: none.
OpId running_at(const Timeline& timeline, std::span<const OpId> ops, int64_t ns);
// The one that runs at `ns`, else the nearest that is no further than `within_ns`; kNone: none.
OpId nearest_op(const Timeline& timeline, std::span<const OpId> ops, int64_t ns, int64_t within_ns);
// The op of the same stream `by` places on (back where negative); kNone past the ends.
OpId neighbour(const Timeline& timeline, const StepIndex& index, OpId op, int by);

}  // namespace headroom::gui
