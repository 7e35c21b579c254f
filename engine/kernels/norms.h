// CUDA kernels of RMSNorm over rows of bf16 values: whole tokens (heads = 1), or each head of a token.
//
// Contract: as in pointwise.h. A row is one head of one token: `dim` values; heads of a token lie side by
// side, tokens `stride` values apart. dim: a multiple of 8, at most kMostNormDim.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pointwise.h"

namespace headroom::engine::kernels {

inline constexpr int64_t kMostNormDim = 16384;

struct NormRows {
    int64_t tokens, heads, dim;
};

struct NormRule {
    float epsilon;
    float offset = 0;  // added to each weight
};

// out (+)= x / sqrt(mean(x^2) + epsilon) * weight.
void rms_norm(const bf16* x, int64_t x_stride, const bf16* weight, bf16* out, int64_t out_stride, bool add,
              const NormRows& rows, const NormRule& rule, cudaStream_t stream);
// dx (+)= gradient through the norm; dx may be d_out. d_weight (float or bf16) += its sum over the rows,
// unless null; scratch: column_sums_scratch(dim) bytes (reductions.h). Each input is read once.
template <class Value>
void rms_norm_backward(const bf16* x, int64_t x_stride, const bf16* weight, const bf16* d_out,
                       int64_t d_out_stride, bf16* dx, int64_t dx_stride, bool add, Value* d_weight,
                       float* scratch, const NormRows& rows, const NormRule& rule, cudaStream_t stream);

}  // namespace headroom::engine::kernels
