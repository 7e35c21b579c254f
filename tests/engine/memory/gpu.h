// Whether this machine has a GPU; tests that need one are skipped without.
#pragma once

#include <cuda_runtime_api.h>

namespace headroom {

inline int gpu_count() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace headroom
