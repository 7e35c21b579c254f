// The contract of a Program (program.h, builder.h), verified: for our own mistakes, used by tests.
//
// "Before" is happens-before: op a is before op b if a has ended whenever b starts, by the order of the
// streams, by waits, or by a chain of both.
#pragma once

#include <array>
#include <vector>

#include "base/result.h"
#include "program/program.h"

namespace headroom {

// For every op and stream, the last op of that stream that has ended whenever the op starts. 20 bytes an op.
class HappensBefore {
public:
    // Waits lead to lower ids only. Cost: linear in ops and waits.
    explicit HappensBefore(const Program& program);
    bool operator()(OpId a, OpId b) const {
        const OpId known = ended_[b][static_cast<size_t>(program_.ops[a].stream)];
        return known != kNone && known >= a;
    }

private:
    const Program& program_;
    std::vector<std::array<OpId, kStreams>> ended_;
};

// Verifies:
//  - ops name a work, waits name ops of lower id on other streams (so there is no cycle);
//  - memory changes stand in op order, and executed op by op no category falls below zero and all return to
//  where
//    they stood before the step;
//  - every buffer lies in the arena of its tier, at an aligned address;
//  - a buffer with an address of its own overlaps no other; where buffers that share overlap, each lifetime
//  is over
//    (happens-before) when the next begins;
//  - executed op by op, a tier's live bytes (libraries aside) never exceed its arena.
// Error (Fault::run_failed): the first that does not hold, by op or buffer. Cost: linear in ops, waits and
// changes; lifetimes times the shared buffers that one overlaps.
Result<void> check_program(const Program& program);

}  // namespace headroom
