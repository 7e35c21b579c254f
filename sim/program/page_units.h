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

}  // namespace headroom
