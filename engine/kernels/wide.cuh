// Eight bf16 values in one 16-byte load, for the kernels of this folder.
#pragma once

#include <cuda_bf16.h>

#include "kernels/pointwise.h"

namespace headroom::engine::kernels {

constexpr int kWide = 8;

struct alignas(16) Eight {
    __nv_bfloat16 v[kWide];
};

__device__ inline Eight load(const bf16* p) {
    return *reinterpret_cast<const Eight*>(p);
}
__device__ inline void store(bf16* p, const Eight& e) {
    *reinterpret_cast<Eight*>(p) = e;
}

}  // namespace headroom::engine::kernels
