// The selections that a program is lowered with: what the plan's model of selections draws, or what a run recorded.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "plan/selection.h"

namespace headroom {

// One entry serves all layers where a model draws them; recorded ones are by layer.
struct SelectionSet {
    std::vector<Selections> layers;
};
// Empty where attention is dense or there is no past. Cost: see draw_selections.
SelectionSet select_pages(const Plan& plan);

}  // namespace headroom
