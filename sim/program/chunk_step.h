// The step that takes chunks through all layers: the fill pass, then the gradient pass from the last chunk
// back. With one chunk it is the whole sequence at once; with ring ranks each rank holds an equal part of
// that chunk. Source of the order: arXiv 2602.02108, section 3; what differs is in docs/decisions.
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.h"
#include "program/program.h"
#include "program/selected.h"

namespace headroom {

Program chunk_step(const Plan& plan, const SelectionSet& selections, const LowerOptions& options = {});

}  // namespace headroom
