// Whether a CUDA kernel of engine/kernels can take these tensors, and their pointers.
#pragma once

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>

#include "kernels/pointwise.h"

namespace headroom::engine {

inline bool plain_bf16(const at::Tensor& t) {
    return t.is_cuda() && t.scalar_type() == at::kBFloat16 && t.is_contiguous() && t.size(-1) % 8 == 0;
}
template <class... Tensors>
bool on_gpu(const Tensors&... tensors) {
    return (plain_bf16(tensors) && ...);
}
// The same of heads [T, h, d] whose tokens may lie further apart (q inside of q, k and v).
inline bool rows_on_gpu(const at::Tensor& t) {
    return t.is_cuda() && t.scalar_type() == at::kBFloat16 && t.stride(2) == 1 && t.stride(1) == t.size(2) &&
           t.stride(0) % 8 == 0 && t.size(2) % 8 == 0 && reinterpret_cast<uintptr_t>(t.data_ptr()) % 16 == 0;
}
inline kernels::bf16* bits(const at::Tensor& t) {
    return static_cast<kernels::bf16*>(t.data_ptr());
}
inline cudaStream_t current_stream() {
    return at::cuda::getCurrentCUDAStream().stream();
}
// The last launch's error, with what it was for.
inline void check_launch(const char* what) {
    const cudaError_t status = cudaGetLastError();
    TORCH_CHECK(status == cudaSuccess, what, ": ", cudaGetErrorString(status));
}

}  // namespace headroom::engine
