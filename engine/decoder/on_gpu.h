// Whether a CUDA kernel of engine/kernels can take these tensors, and their pointers.
#pragma once

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>

#include "kernels/pointwise.h"

namespace headroom::engine {

// Kernels read and write 16 bytes at a time.
inline bool is_aligned(const at::Tensor& t) {
    return reinterpret_cast<uintptr_t>(t.data_ptr()) % 16 == 0;
}
inline bool plain_bf16(const at::Tensor& t) {
    return t.is_cuda() && t.scalar_type() == at::kBFloat16 && t.is_contiguous() && t.size(-1) % 8 == 0 &&
           is_aligned(t);
}
template <class... Tensors>
bool on_gpu(const Tensors&... tensors) {
    return (plain_bf16(tensors) && ...);
}
// The same of rows [T, n] or heads [T, h, d] whose tokens may lie further apart (q inside of q, k and v).
inline bool rows_on_gpu(const at::Tensor& t) {
    return t.is_cuda() && t.scalar_type() == at::kBFloat16 && t.stride(-1) == 1 &&
           (t.dim() == 2 || (t.dim() == 3 && t.stride(1) == t.size(2))) && t.stride(0) % 8 == 0 &&
           t.size(-1) % 8 == 0 && is_aligned(t);
}
// Running sums that kernels add to: fp32 or bf16.
inline bool sums_on_gpu(const at::Tensor& t) {
    return t.is_cuda() && t.is_contiguous() &&
           (t.scalar_type() == at::kFloat || t.scalar_type() == at::kBFloat16);
}
// Calls use(pointer to the values of `sums`), which are fp32 or bf16.
template <class Use>
void with_sums(const at::Tensor& sums, const Use& use) {
    if (sums.scalar_type() == at::kFloat) {
        use(static_cast<float*>(sums.data_ptr()));
    } else {
        use(static_cast<kernels::bf16*>(sums.data_ptr()));
    }
}
inline kernels::bf16* bits(const at::Tensor& t) {
    return static_cast<kernels::bf16*>(t.data_ptr());
}
// `bytes` at the start of a caller's scratch (uint8, on the device of `like`), or of the caching allocator's
// where there is none.
inline at::Tensor scratch_of(const at::Tensor& scratch, int64_t bytes, const at::Tensor& like) {
    if (!scratch.defined()) return at::empty({bytes}, like.options().dtype(at::kByte));
    TORCH_CHECK(scratch.scalar_type() == at::kByte && scratch.numel() >= bytes, "scratch of ",
                scratch.nbytes(), " bytes, not ", bytes);
    return scratch.narrow(0, 0, bytes);
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
