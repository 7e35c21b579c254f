// The same model in plain autograd, the whole sequence at once: the truth that tests hold the engine against.
// Nothing here knows chunks, pages or plans.
#pragma once

#include <ATen/ATen.h>

#include "model/model.h"

namespace headroom::engine {

struct ReferenceResult {
    double loss = 0;       // mean over the targets: every token but the first, predicted by the one before it
    at::Tensor gradients;  // flat, in the order of parameter_list(), in the type of the weights
};

// `weights`: flat, in the order of parameter_list(); `tokens`: [N] int64. Cost: O(N^2) memory.
ReferenceResult reference_step(const Model& model, const at::Tensor& weights, const at::Tensor& tokens,
                               bool honour_windows = true);

}  // namespace headroom::engine
