#include <algorithm>

#include "kernels/optimizer_math.h"

namespace headroom::engine::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 32;
constexpr int kEach = static_cast<int>(kStateBlock) / kLanes;  // parameters of one lane

__device__ float largest_of_warp(float v) {
    for (int step = kLanes / 2; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}

// One thread, one parameter at a time.
template <Format kWeight, Format kMoment>
__global__ void update_values(OptimizerBuffers b, int64_t count, Factors<float> f, uint64_t seed) {
    b.weight = kWeight;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
        const Noise noise = noise_of(seed, i);
        float m = 0, v = 0;
        if constexpr (kMoment != Format::none) {
            m = load<float>(b.first, kMoment, i);
            v = load<float>(b.second, kMoment, i);
        }
        update_one(b, f, kMoment != Format::none, i, noise, m, v);
        if constexpr (kMoment != Format::none) {
            store(b.first, kMoment, i, m, noise.first);
            store(b.second, kMoment, i, v, noise.second);
        }
    }
}

// One warp, one block of int8 moments at a time.
template <Format kWeight>
__global__ void update_blocks(OptimizerBuffers b, int64_t count, Factors<float> f, uint64_t seed) {
    b.weight = kWeight;
    auto* const first_codes = static_cast<uint8_t*>(b.first);
    auto* const second_codes = static_cast<uint8_t*>(b.second);
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    const int64_t warps = static_cast<int64_t>(gridDim.x) * (blockDim.x / kLanes);
    const int64_t warp = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kLanes;
    for (int64_t block = warp; block * kStateBlock < count; block += warps) {
        const float first_old = b.first_scales[block], second_old = b.second_scales[block];
        float m[kEach], v[kEach], m_most = 0, v_most = 0;
        for (int k = 0; k < kEach; ++k) {
            const int64_t i = block * kStateBlock + k * kLanes + lane;
            m[k] = v[k] = 0;
            if (i >= count) continue;
            m[k] = first_value(first_codes[i], first_old);
            v[k] = second_value(second_codes[i], second_old);
            update_one(b, f, true, i, noise_of(seed, i), m[k], v[k]);
            m_most = fmaxf(m_most, fabsf(m[k]));
            v_most = fmaxf(v_most, v[k]);
        }
        const float first_new = first_scale(largest_of_warp(m_most));
        const float second_new = second_scale(largest_of_warp(v_most));
        if (lane == 0) {
            b.first_scales[block] = first_new;
            b.second_scales[block] = second_new;
        }
        for (int k = 0; k < kEach; ++k) {
            const int64_t i = block * kStateBlock + k * kLanes + lane;
            if (i >= count) continue;
            const Noise noise = noise_of(seed, i);
            first_codes[i] = first_code(m[k], first_new, noise.first);
            second_codes[i] = second_code(v[k], second_new, noise.second);
        }
    }
}

template <Format kWeight>
void launch(const OptimizerBuffers& b, int64_t count, const OptimizerStep& step, cudaStream_t stream) {
    const Factors<float> f(step);
    const int64_t wanted = (count + kThreads - 1) / kThreads;
    const auto blocks = static_cast<unsigned>(std::min<int64_t>(wanted, 132 * 32));
    switch (b.moment) {
        case Format::int8:
            return update_blocks<kWeight><<<blocks, kThreads, 0, stream>>>(b, count, f, step.seed);
        case Format::bf16:
            return update_values<kWeight, Format::bf16>
                <<<blocks, kThreads, 0, stream>>>(b, count, f, step.seed);
        case Format::fp32:
            return update_values<kWeight, Format::fp32>
                <<<blocks, kThreads, 0, stream>>>(b, count, f, step.seed);
        default:
            return update_values<kWeight, Format::none>
                <<<blocks, kThreads, 0, stream>>>(b, count, f, step.seed);
    }
}

}  // namespace

void optimizer_update(const OptimizerBuffers& buffers, int64_t count, const OptimizerStep& step,
                      cudaStream_t stream) {
    if (buffers.weight == Format::bf16) return launch<Format::bf16>(buffers, count, step, stream);
    launch<Format::fp32>(buffers, count, step, stream);
}

uint64_t seed_from(uint64_t seed, int64_t first) {
    return seed + static_cast<uint64_t>(first) * kSeedStep;
}

}  // namespace headroom::engine::kernels
