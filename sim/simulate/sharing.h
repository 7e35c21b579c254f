// Which rate each running op gets while others run beside it. The solver alone: no ops, no time.
//
// Model. Each stream runs at most one op, of some class v (Sharing). Alone its rate is 1. Together:
//     cap_v  = product over the other running classes a of interference[v][a]
//     both directions of the host link together pass at most `both_directions` bytes/s: where both run, the
//     fair share of each is both_directions / (sum of the two bandwidths) of its own; what one of them cannot
//     use, its cap being lower, the other gets (max-min fairness, weighted by bandwidth) rate_v = min(cap_v,
//     fair share)
// The bandwidth of a direction is that of its largest pieces; both_directions = 0 is no limit.
// Rates are fixed point with kRateOne = 1; at least 1 unit, so that every op ends.
#pragma once

#include <array>
#include <cstdint>

#include "hardware/hardware.h"
#include "program/program.h"

namespace headroom {

inline constexpr int64_t kRateOne = int64_t{1} << 20;
using Running = std::array<Sharing, kStreams>;  // by stream; Sharing::idle where nothing runs
using Rates = std::array<int64_t, kStreams>;    // by stream; kRateOne where nothing runs

// The equations above, evaluated; pure.
Rates solve_sharing(const Running& running, const Hardware& hardware);

}  // namespace headroom
