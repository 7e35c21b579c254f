// What a step achieves: tokens a second, and its share of what the hardware could compute.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace headroom {

// Forward FLOPs of the step's useful work, times 3: causal, windows honoured, of the selected keys when
// sparse; no recomputation. All GPUs together.
double useful_flops(const Plan& plan);
// useful_flops over the datasheet's dense rate of all GPUs and the step's time.
double mfu(const Plan& plan, int64_t step_ns);
double tokens_per_second(const Plan& plan, int64_t step_ns);  // all GPUs together

}  // namespace headroom
