// Single changes that make a scenario fit, each found by applying it and searching again.
#pragma once

#include <vector>

#include "search/answer.h"

namespace headroom {

// Cheapest first: changes that keep the training run (host budget, another GPU, more GPUs, strategy), then
// those that change it (dtypes, optimizer, attention, LoRA), then a shorter context; within each by step
// time. `found`: the nearest plan, which does not fit.
Result<std::vector<Remedy>> remedies(const Scenario& scenario, const Answer& found, const Progress& progress);

}  // namespace headroom
