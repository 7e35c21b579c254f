// Products of matrices that sum into a wider type.
#pragma once

#include <ATen/ATen.h>

namespace headroom::engine {

// sum [m, n] += left^T right of left [T, m], right [T, n]: the gradient of a weight. `sum` may be wider than
// the two, and is added to in its own type.
void add_product(at::Tensor sum, const at::Tensor& left, const at::Tensor& right);

}  // namespace headroom::engine
