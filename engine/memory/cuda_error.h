// CUDA's status codes as errors.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "base/result.h"

namespace headroom {

// Nothing where `status` is cudaSuccess. Else Fault::run_failed; `what` names the call and what it was for,
// and with its bytes where it asked for memory: "cudaMalloc of 1073741824 bytes for the device arena". CUDA
// forgets the error, so that a later call does not report it again.
Result<void> check_cuda(cudaError_t status, const std::string& what);

}  // namespace headroom
