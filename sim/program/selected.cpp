#include "program/selected.h"

namespace headroom {

SelectionSet select_pages(const Plan& plan) {
    SelectionSet set;
    const Decisions& d = plan.decisions;
    if (!d.attention.sparse || plan.chunks() < 2) return set;
    const int64_t layers = plan.selection.recorded ? plan.selection.recorded->layers : 1;
    for (int64_t l = 0; l < layers; ++l) {
        set.layers.push_back(
            draw_selections(plan.selection, d.attention, plan.chunks(), d.chunk.count(), d.page.count(), l));
    }
    return set;
}

}  // namespace headroom
