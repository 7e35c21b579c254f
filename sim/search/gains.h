// What one more unit of each resource buys, found by searching again with it.
#pragma once

#include <vector>

#include "search/answer.h"
#include "search/search.h"

namespace headroom {

// `found`: the answer without. Device and host budgets reuse the searcher's candidates; a faster link and a
// second GPU search anew. Cost: tens of milliseconds each; times are of sampled steps
// (Estimator::sampled_step_ns).
std::vector<Gain> gains(const Scenario& scenario, Searcher& searcher, const Answer& found);

// What differs between two plans' decisions: "kv {...} -> device, chunk 4Ki -> 8Ki"; empty: nothing.
std::string changes_between(const Decisions& from, const Decisions& to);

}  // namespace headroom
