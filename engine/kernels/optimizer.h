// The optimizer's kernel: reads gradients, weights and states once and writes the latter two once, so that
// its bound is bytes over memory bandwidth. Its CPU twin is decoder/optimizer.cpp; the arithmetic of both is
// optimizer_math.h, so that they give the same bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::engine::kernels {

// Parameters that share a scale of 8-bit states.
inline constexpr int64_t kStateBlock = 256;

enum class Format : uint8_t { none, fp64, fp32, bf16, int8 };

// Where a piece of the trained parameters and what belongs to them lie; element i of each belongs to
// parameter i of the piece.
struct OptimizerBuffers {
    void* weights = nullptr;
    const void* gradients = nullptr;
    float* master = nullptr;  // or none
    void* first = nullptr;    // moments of AdamW
    void* second = nullptr;
    float* first_scales = nullptr;  // one per kStateBlock parameters, of int8 moments
    float* second_scales = nullptr;
    Format weight = Format::none, gradient = Format::none, moment = Format::none;
};

// AdamW (Loshchilov, Hutter, arXiv 1711.05101), or SGD where the buffers have no moments:
//   g = clip gradient;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   w = (1 - rate decay) w - rate (m / correction1) / (sqrt(v / correction2) + epsilon)      SGD: w - rate g
// With master weights w is theirs, and the weights are w rounded to nearest; without, bf16 weights are
// rounded stochastically. So are bf16 and int8 moments.
struct OptimizerStep {
    double rate = 0, beta1 = 0, beta2 = 0, epsilon = 0, decay = 0;
    double correction1 = 1, correction2 = 1;  // 1 - beta^t
    double clip = 1;
    uint64_t seed = 0;  // of this step's rounding
};

// All `count` parameters of a piece, on the device; weights and gradients fp32 or bf16. The rounding of
// parameter i of a piece is that of i + first of all where the seed is seed_from(seed, first).
void optimizer_update(const OptimizerBuffers& buffers, int64_t count, const OptimizerStep& step,
                      cudaStream_t stream);
uint64_t seed_from(uint64_t seed, int64_t first);

}  // namespace headroom::engine::kernels
