// What an Answer says, as tables.
#pragma once

#include <array>
#include <vector>

#include "gui/model/table_model.h"
#include "search/answer.h"

namespace headroom::gui {

// Who owns the bytes of a tier at its worst instant, largest first; what is allocated and owned by no one is
// slack.
struct Share {
    Category category = Category::slack;
    int64_t bytes = 0;
};
std::vector<Share> shares_of(const TierNeed& need);

// By tier and category: bytes at the worst instant; a line for each tier's sum, budget and headroom.
TableData tier_table(const std::array<TierNeed, kTiers>& tiers);
// Step time, tokens/s, MFU, passes, streams, what binds, hidden share, the longest kinds of the critical
// path.
TableData figure_table(const Answer& answer);
// What more of each budget would buy.
TableData gain_table(const Answer& answer);
// Single changes that make it fit; row i is answer.remedies[i].
TableData remedy_table(const Answer& answer);
// Every decision; those that the scenario fixes stand out. `scenario` may be null: all are fixed.
TableData decision_table(const Plan& plan, const Scenario* scenario);

}  // namespace headroom::gui
