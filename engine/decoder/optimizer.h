// The optimizer on tensors, on the CPU or a GPU: the same bits on both where weights are fp32 or bf16.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "kernels/optimizer.h"
#include "plan/plan.h"

namespace headroom::engine {

// Views of the one buffer of optimizer states, of `count` trained parameters. Undefined: not kept.
struct OptimizerState {
    at::Tensor master;                       // [count] fp32
    at::Tensor first_scales, second_scales;  // [blocks of kStateBlock] fp32
    at::Tensor first, second;                // [count] fp64, fp32, bf16, or int8 codes (uint8)
};

// In this order in `bytes` (uint8; at least ParameterBytes::states_of(count), aligned to 8): master, scales
// of m, scales of v, m, v. The number formats are the recipe's.
OptimizerState optimizer_state_in(const Recipe& recipe, int64_t count, const at::Tensor& bytes);

// That of parameters [first, first + count), first a multiple of kernels::kStateBlock; nothing is copied.
OptimizerState piece_of(const OptimizerState& state, int64_t first, int64_t count);

// Updates a piece: `weights` (fp64, fp32 or bf16, flat), with the gradients and the state of the same
// parameters. `first`: the first of them among all that are trained, a multiple of kernels::kStateBlock; the
// bits do not depend on how they are cut. What it computes: kernels/optimizer.h; in fp64 where the weights
// are, else in fp32.
void optimizer_update(const at::Tensor& weights, const at::Tensor& gradients, const OptimizerState& state,
                      int64_t first, const kernels::OptimizerStep& step);

}  // namespace headroom::engine
