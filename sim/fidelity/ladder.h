// A ladder of contexts around the largest that is predicted to fit.
#pragma once

#include <vector>

#include "fidelity/suite.h"

namespace headroom::fidelity {

// The contexts of the rungs: `limit` times 1 + rung, rounded away from the limit to whole pages, at least one
// page; those that fall together once.
std::vector<Tokens> rung_contexts(const Ladder& ladder, Tokens limit, Tokens page);

// The plan of one rung, named "LADDER@CONTEXT": context set over the ladder's question, no check of the
// device's memory before the run.
SuitePlan rung_plan(const Ladder& ladder, Tokens context);

}  // namespace headroom::fidelity
