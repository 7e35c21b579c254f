// The decoder's memory-bound parts, forward and backward, into planned buffers. Inner arithmetic is in the
// type of sums: fp32, fp64 beside fp64.
//
// Shapes: T tokens, H hidden, h heads, d head size, I inner size, V vocabulary.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "model/model.h"

namespace headroom::engine {

// fp64 for fp64, else fp32.
at::ScalarType sum_type(at::ScalarType type);

struct NormRule {
    // Not explicit: most norms are an epsilon alone.
    NormRule(double e, bool one = false) : epsilon(e), add_one(one) {}
    double epsilon;
    bool add_one;  // the weight is what is added to 1 (gemma3)
};
// out = x / sqrt(mean(x^2) + epsilon) * weight, over the last dimension; added to out if `add`. Source:
// Zhang, Sennrich, arXiv 1910.07467.
void rms_norm(const at::Tensor& x, const at::Tensor& weight, const NormRule& rule, at::Tensor out,
              bool add = false);
// Adds the gradient through the norm to dx (or overwrites it; dx may be d_out), and to d_weight unless that
// is undefined. scratch: reduction_scratch_bytes (reductions.h).
void rms_norm_backward(const at::Tensor& x, const at::Tensor& weight, const NormRule& rule,
                       const at::Tensor& d_out, at::Tensor dx, bool add, at::Tensor d_weight,
                       const at::Tensor& scratch = {});

// Cosines and sines [T, d / 2] of the positions first .. first + T - 1, angles in fp64, as the model's rope
// says; multiplied by its attention factor.
struct RopeTable {
    at::Tensor cos, sin;
};
RopeTable rope_table(const Model& model, const Layer& layer, int64_t first, int64_t tokens,
                     const at::TensorOptions& options);
// The same into a table that is there. On a GPU nothing is allocated.
void fill_rope_table(const Model& model, const Layer& layer, int64_t first, RopeTable table);
// Rotates x [T, h, d] in place: halves (i, i + d / 2), as transformers does; `inverse`: the gradient, that is
// back, and scaled as the table is.
void rope(at::Tensor x, const RopeTable& table, bool inverse);

// act = silu(gate) * up of gate_up [T, 2 I]: gate, then up. gelu: GELU in its tanh form instead of SiLU.
void swiglu(const at::Tensor& gate_up, at::Tensor act, bool gelu = false);
// gate_up becomes its own gradient, given that of act.
void swiglu_backward(at::Tensor gate_up, const at::Tensor& d_act, bool gelu = false);

// Adds the token losses of logits [T, V] against targets [T] (int64; negative: does not count) to loss_sum
// (fp64, one value, on the device: nothing waits for it); logits become their gradient times `scale` (1 /
// targets of the step). scratch: reduction_scratch_bytes (reductions.h).
void cross_entropy(at::Tensor logits, const at::Tensor& targets, double scale, at::Tensor loss_sum,
                   const at::Tensor& scratch = {});

}  // namespace headroom::engine
