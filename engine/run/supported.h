// Which plans the engine can run. What it cannot is named, never run as something else.
#pragma once

#include "base/result.h"
#include "plan/plan.h"

namespace headroom::engine {

// Error: the key that stands against it, what it says, what the engine runs.
Result<void> check_supported(const Plan& plan);

}  // namespace headroom::engine
