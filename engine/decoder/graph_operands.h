// Tensors as operands of cuDNN's graph API (decoder/cudnn_attention.h).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "base/result.h"
#include "decoder/cudnn_attention.h"

namespace headroom::engine {

inline bool is_half(const at::Tensor& x) {
    return x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf;
}
// [tokens, heads, d] as the graph API takes it: whole heads, at addresses of 16 bytes.
inline bool fits_graph(const at::Tensor& x) {
    return x.stride(-1) == 1 && x.stride(-3) % 8 == 0 && x.stride(-2) % 8 == 0 && x.size(-1) % 8 == 0 &&
           x.size(-1) <= 256 && reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
}
// Of [tokens, heads, d], or [batch, tokens, heads, d].
inline HeadStrides strides_of(const at::Tensor& x) {
    return {x.stride(-3), x.stride(-2), x.dim() == 4 ? x.stride(0) : 0};
}
inline void check_done(const Result<void>& done) {
    TORCH_CHECK(done.has_value(), done.error().text());
}

}  // namespace headroom::engine
