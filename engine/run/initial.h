// What a run without weight files begins with: seeded weights, the same bits on every machine.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "base/result.h"
#include "plan/plan.h"

namespace headroom::engine {

// `weights`: flat, in the order of parameter_list(), on any device; values as initial_values() says. Cost: 1
// to 2 ns a value on each core. Error: a dtype that fill_random() does not write.
Result<void> fill_initial_weights(const Plan& plan, uint64_t seed, at::Tensor weights);

}  // namespace headroom::engine
