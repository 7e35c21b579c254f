// The units that pages are counted in. Pages of K and V and pages of dK and dV share one pool per tier,
// whatever their dtypes: a unit has the bytes of the smaller kind, and a page of the larger is several units,
// each with an equal share of its tokens. So they need not be neighbours, and no hole is ever too small.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/plan.h"

namespace headroom {

struct PageUnits {
    int64_t bytes = 0;             // of a unit: K and V (or dK and dV) together, on one rank
    int64_t kv = 1, gradient = 1;  // units of a page
};
inline PageUnits page_units(const Plan& plan) {
    const Decisions& d = plan.decisions;
    const int64_t values = 2 * d.page.count() * (plan.model.kv_size() / d.tensor_ranks);
    const int64_t kv = bytes_of(d.kv, values).count(), gradient = bytes_of(d.kv_gradients, values).count(),
                  unit = std::min(kv, gradient);
    return {unit, ceil_div(kv, unit), ceil_div(gradient, unit)};
}

// Pages of K and V in fp8 (e4m3) have codes of a byte and, for each KV head of each page, a scale in fp32.
// The codes travel; the scales stay on the device ("page scales": by layer, K or V, page and head), where
// they are a few bytes a page. What reads a page unpacks it to the dtype of the weights first.
inline bool packs_pages(const Plan& plan) {
    return plan.decisions.kv == Dtype::fp8;
}
// Whether pages of K and V must be brought to the dtype of the weights before attention reads them.
inline bool unpacks_pages(const Plan& plan) {
    return bytes_of(plan.decisions.kv, 1) != bytes_of(plan.decisions.weights, 1);
}
inline Bytes page_scale_bytes(const Plan& plan) {
    const Decisions& d = plan.decisions;
    const int64_t pages = ceil_div(plan.context.count(), d.page.count());
    return Bytes(plan.model.layer_count() * 2 * pages * (plan.model.kv_heads / d.tensor_ranks) * 4);
}

}  // namespace headroom
