// The ops of each stream in the order of their ids.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "program/program.h"

namespace headroom {

// 4 bytes an op.
struct OpQueues {
    std::vector<OpId> ops;  // stream by stream
    std::array<size_t, kStreams + 1> begin{};

    std::span<const OpId> of(size_t stream) const {
        return {ops.data() + begin[stream], ops.data() + begin[stream + 1]};
    }
};

// Errors (Fault::run_failed): an op of no stream, or of a work that is not among the first `works`; waits of
// another number of ops. Cost: linear, two passes.
Result<OpQueues> queues_of(const Program& program, size_t works);

}  // namespace headroom
