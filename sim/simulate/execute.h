// The event loop: a Program and the cost of each of its works -> times. Who says what a work costs is above
// this.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "hardware/hardware.h"
#include "program/program.h"
#include "simulate/simulate.h"

namespace headroom {

// Remaining work is kept as nanoseconds x kRateOne (2^20) in 63 bits.
inline constexpr int64_t kLongestOp = int64_t{1} << 43;  // ns

struct WorkCost {
    int64_t duration_ns = 0;          // alone on the machine; 0 <= duration < kLongestOp
    Sharing sharing = Sharing::idle;  // what it is to others that run beside it
};

// `costs` by index of Program::works. Errors as of simulate(). The hardware gives the rates (sharing.h)
// alone.
Result<Simulation> execute(const Program& program, std::span<const WorkCost> costs, const Hardware& hardware,
                           const SimulateOptions& options = {});

}  // namespace headroom
