#include "decoder/products.h"

namespace headroom::engine {

void add_product(at::Tensor sum, const at::Tensor& left, const at::Tensor& right) {
    if (sum.scalar_type() == left.scalar_type()) {
        sum.addmm_(left.t(), right);
        return;
    }
    if (left.is_cuda() && sum.scalar_type() == at::kFloat) {
        at::addmm_out(sum, sum, left.t(), right, at::kFloat);
        return;
    }
    sum.addmm_(left.t().to(sum.scalar_type()), right.to(sum.scalar_type()));
}

}  // namespace headroom::engine
