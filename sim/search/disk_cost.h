// What a step pays for pages on disk.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "plan/plan.h"
#include "search/evaluate.h"

namespace headroom {

struct DiskCost {
    int64_t waits_ns = 0;  // of the step's critical path, that of the disk's ops: reads and writes
    // The same plan with these pages on the host:
    int64_t step_ns = 0, host_bytes = 0;
};

// Nothing where the plan keeps no pages on disk. `evaluation`: the plan's own, with statistics. Cost: one
// evaluate().
Result<std::optional<DiskCost>> disk_cost(const Plan& plan, const Evaluation& evaluation);

}  // namespace headroom
