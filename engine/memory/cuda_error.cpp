#include "memory/cuda_error.h"

namespace headroom {

Result<void> check_cuda(cudaError_t status, const std::string& what) {
    if (status == cudaSuccess) return {};
    static_cast<void>(cudaGetLastError());
    return fail(what, std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status), {},
                Fault::run_failed);
}

}  // namespace headroom
