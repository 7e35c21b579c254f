// CUDA kernels of the decoder's memory-bound parts on bf16 values, arithmetic in fp32. Each reads its inputs
// and writes its outputs once, so that its bound is bytes over memory bandwidth. Their CPU twins are the ATen
// versions in decoder/pointwise.cpp and decoder/attention.cpp; tests/engine/kernels compares the two.
//
// Contract: device pointers, row-major; `stream` is a cudaStream_t; nothing waits. Values of a row are
// multiples of 8 and 16-byte aligned. No atomics: the same input gives the same bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::engine::kernels {

using bf16 = uint16_t;  // the bits of one value

// gate_up [rows, 2 inner] -> act [rows, inner]. gelu: the tanh form of GELU in place of SiLU.
void swiglu(const bf16* gate_up, bf16* act, int64_t rows, int64_t inner, cudaStream_t stream,
            bool gelu = false);
void swiglu_backward(bf16* gate_up, const bf16* d_act, int64_t rows, int64_t inner, cudaStream_t stream,
                     bool gelu = false);
// cos, sin [tokens, half] of the positions first, first + 1, ... times f[0] .. f[half - 1], angles in fp64.
inline constexpr int64_t kMostPairs = 256;
struct Frequencies {
    double f[kMostPairs];
};
void rope_table(const Frequencies& frequencies, int64_t first, int64_t tokens, int64_t half, float* cos,
                float* sin, cudaStream_t stream);
// Rotates x [tokens, heads, dim] in place, rows `stride` values apart; cos, sin [tokens, dim / 2]. inverse:
// back.
void rope(bf16* x, const float* cos, const float* sin, int64_t tokens, int64_t heads, int64_t dim,
          int64_t stride, bool inverse, cudaStream_t stream);
// Attention outputs [tokens, heads, dim] of two parts of the keys, merged by their log-sum-exp into the
// first. Both sums lie as `sums` says: one for each token and head, so many values from one to the next.
struct SumsLayout {
    int64_t heads, token, head;
};
void merge(bf16* out, float* lse, const bf16* part, const float* part_lse, int64_t tokens,
           const SumsLayout& sums, int64_t dim, cudaStream_t stream);
// losses [rows] and, in place of the logits, their gradient times scale; a negative target does not count.
void cross_entropy(bf16* logits, const int64_t* targets, float* losses, int64_t rows, int64_t columns,
                   float scale, cudaStream_t stream);

}  // namespace headroom::engine::kernels
