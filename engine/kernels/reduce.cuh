// Sums and maxima over a warp and a thread block; the order is fixed, so the bits are too.
#pragma once

#include <cuda_runtime_api.h>

namespace headroom::engine::kernels {

struct Sum {
    static constexpr float kNone = 0.0f;
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct Max {
    static constexpr float kNone = -INFINITY;
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <class Combine, class T>
__device__ T over_warp(T v) {
    for (int step = 16; step > 0; step /= 2) v = Combine()(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}
// Of all threads of the block, known to each. `shared`: 32 values; may be used again after the call.
template <class Combine, class T>
__device__ T over_block(T v, T* shared) {
    v = over_warp<Combine>(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    const int warps = static_cast<int>(blockDim.x) / 32;
    return over_warp<Combine>(static_cast<int>(threadIdx.x % 32) < warps ? shared[threadIdx.x % 32]
                                                                         : static_cast<T>(Combine::kNone));
}

}  // namespace headroom::engine::kernels
