// What a run without weight files begins with: seeded weights and adapters, the same bits on every machine.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "base/result.h"
#include "plan/plan.h"

namespace headroom::engine {

// `weights`: flat, in the order of parameter_list(), on any device; values as initial_values() says. Cost: 1
// to 2 ns a value on each core. Error: a dtype that fill_random() does not write.
Result<void> fill_initial_weights(const Plan& plan, uint64_t seed, at::Tensor weights);
// LoRA: `adapters`: flat, in the order of adapter_list(). A is uniform within 1 / sqrt(in), which PEFT calls
// Kaiming uniform with a = sqrt(5); B is zero, so that the first step is that of the model alone.
Result<void> fill_initial_adapters(const Plan& plan, uint64_t seed, at::Tensor adapters);

}  // namespace headroom::engine
