// What one more unit of each resource buys, found by searching again with it.
#pragma once

#include <vector>

#include "search/answer.h"
#include "search/search.h"

namespace headroom {

// `found`: the answer without, `sampled_ns` the searcher's best by sampling (Found). Budgets and a faster
// link reuse what the searcher has lowered; a second GPU searches anew. Cost: tens of milliseconds each;
// times are of sampled steps (Estimator::sampled_step_ns).
std::vector<Gain> gains(const Scenario& scenario, Searcher& searcher, const Answer& found,
                        int64_t sampled_ns);

}  // namespace headroom
