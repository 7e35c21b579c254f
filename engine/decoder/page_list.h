// Lists of addresses and of what goes with them, as the kernels of pages take them.
#pragma once

#include <ATen/ATen.h>

namespace headroom::engine {

inline bool is_list(const at::Tensor& t, at::ScalarType type, int64_t count) {
    return t.scalar_type() == type && t.dim() == 1 && t.size(0) == count && t.is_contiguous();
}
// Entry i of a list of addresses on the CPU, seen as a tensor.
inline at::Tensor tensor_at(const at::Tensor& addresses, int64_t i, at::IntArrayRef sizes,
                            at::ScalarType type) {
    return at::from_blob(reinterpret_cast<void*>(addresses.const_data_ptr<int64_t>()[i]), sizes,
                         at::TensorOptions().dtype(type));
}

}  // namespace headroom::engine
