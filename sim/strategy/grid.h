// The combinations of decisions that a strategy tries. A decision that the scenario fixes has one option: its
// value.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace headroom {

class Grid {
public:
    // Candidates start as the scenario's decisions with this strategy and these ranks.
    Grid(const Scenario& scenario, std::string_view strategy, int64_t tensor_ranks, int64_t ring_ranks);

    // planner_decides() for this scenario.
    bool free(const std::string& key) const;

    // Options of one decision, first the one preferred at equal cost. Ignored where it is not free.
    template <class T>
    Grid& option(const std::string& key, T Decisions::*member, std::vector<T> values) {
        std::vector<std::function<void(Decisions&)>> setters;
        for (const T& v : values) setters.push_back([member, v](Decisions& d) { d.*member = v; });
        if (free(key)) axes_.push_back(std::move(setters));
        return *this;
    }
    // A value for a decision that this strategy does not vary, where it is free.
    template <class T>
    Grid& set(const std::string& key, T Decisions::*member, T value) {
        if (free(key)) base_.*member = value;
        return *this;
    }
    // Combinations for several decisions at once; each setter must leave fixed ones alone (see free()).
    Grid& together(std::vector<std::function<void(Decisions&)>> setters);

    void visit(const std::function<void(const Decisions&)>& visit) const;

private:
    const Scenario& scenario_;
    Decisions base_;
    std::vector<std::vector<std::function<void(Decisions&)>>> axes_;
};

// Homes of weights, their gradients and states worth trying, cheapest in traffic first. `sharded`: over ring
// ranks.
void home_options(Grid& grid, const Scenario& scenario, bool sharded);
// Staging, prefetch and copies of pages: what strategies with offload vary. `in_pieces`: the past travels in
// pieces, whose size matters.
void travel_options(Grid& grid, const Scenario& scenario, bool in_pieces);

// No home 'ranks': parameters are sharded over the ranks of a ring alone.
Result<void> check_no_shards(const Decisions& decisions);

}  // namespace headroom
