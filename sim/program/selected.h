// The selections that a program is lowered with: what the plan's model of selections draws, or what a run
// recorded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "plan/plan.h"
#include "plan/selection.h"

namespace headroom {

// One entry serves all layers where a model draws them; recorded ones are by layer.
struct PageMoves;
struct SelectionSet {
    std::vector<Selections> layers;

    // Page moves worked out from them so far (all_moves in page_traffic.h).
    using MovesKey = std::array<int64_t, 7>;
    struct Memo {
        std::mutex mutex;
        std::map<MovesKey, std::shared_ptr<const std::vector<std::vector<PageMoves>>>> moves;
    };
    std::shared_ptr<Memo> memo = std::make_shared<Memo>();
};
// Empty where attention is dense or there is no past. Cost: see draw_selections.
SelectionSet select_pages(const Plan& plan);

}  // namespace headroom
