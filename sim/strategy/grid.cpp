#include "strategy/grid.h"

#include <algorithm>
#include <set>

namespace headroom {
Grid::Grid(const Scenario& scenario, std::string_view strategy, int64_t tensor_ranks, int64_t ring_ranks)
    : scenario_(scenario), base_(scenario.plan.decisions) {
    base_.strategy = std::string(strategy);
    if (free("tensor_ranks")) base_.tensor_ranks = tensor_ranks;
    if (free("ring_ranks")) base_.ring_ranks = ring_ranks;
}

bool Grid::free(const std::string& key) const {
    return planner_decides(scenario_, key);
}

Grid& Grid::together(std::vector<std::function<void(Decisions&)>> setters) {
    axes_.push_back(std::move(setters));
    return *this;
}

void Grid::visit(const std::function<void(const Decisions&)>& visit) const {
    std::vector<size_t> at(axes_.size(), 0);
    while (true) {
        Decisions d = base_;
        for (size_t i = 0; i < axes_.size(); ++i) axes_[i][at[i]](d);
        keep_on_disk(scenario_, scenario_.plan.context, d);
        visit(d);
        size_t i = axes_.size();
        while (i > 0 && ++at[i - 1] == axes_[i - 1].size()) at[--i] = 0;
        if (i == 0) return;
    }
}

void home_options(Grid& grid, const Scenario& scenario, bool sharded) {
    const bool w = grid.free("weights_home"), g = grid.free("gradients_home"), s = grid.free("states_home");
    const Decisions& fixed = scenario.plan.decisions;
    std::vector<std::array<Home, 3>> homes{{Home::device, Home::device, Home::device},
                                           {Home::device, Home::device, Home::host},
                                           {Home::device, Home::host, Home::host},
                                           {Home::host, Home::device, Home::host},
                                           {Home::host, Home::host, Home::host}};
    if (sharded) {
        homes.push_back({Home::device, Home::device, Home::ranks});
        homes.push_back({Home::device, Home::ranks, Home::ranks});
        homes.push_back({Home::ranks, Home::ranks, Home::ranks});
    }
    std::vector<std::array<Home, 3>> distinct;
    for (std::array<Home, 3> h : homes) {
        if (sharded && g && h[1] == Home::host) continue;  // a ring sums gradients on its devices
        if (!w) h[0] = fixed.weights_home;
        if (!g) h[1] = fixed.gradients_home;
        if (!s) h[2] = fixed.states_home;
        if (std::find(distinct.begin(), distinct.end(), h) == distinct.end()) distinct.push_back(h);
    }
    std::vector<std::function<void(Decisions&)>> setters;
    for (const auto& h : distinct) {
        setters.push_back([h](Decisions& d) {
            d.weights_home = h[0];
            d.gradients_home = h[1];
            d.states_home = h[2];
        });
    }
    grid.together(std::move(setters));
}

void travel_options(Grid& grid, const Scenario& scenario, bool in_pieces) {
    const Decisions& fixed = scenario.plan.decisions;
    const bool slots = grid.free("staging_slots"), prefetch = grid.free("prefetch");
    std::vector<std::function<void(Decisions&)>> setters;
    for (const int64_t count : {int64_t{2}, int64_t{3}}) {
        if (count > 2 && !slots && !prefetch) break;
        setters.push_back([count, slots, prefetch, fixed](Decisions& d) {
            if (slots) d.staging_slots = prefetch ? count : std::max(count, fixed.prefetch + 1);
            if (prefetch) d.prefetch = std::min(count - 1, d.staging_slots - 1);
        });
    }
    grid.together(std::move(setters));
    if (in_pieces)
        grid.option("staging_slot", &Decisions::staging_slot,
                    std::vector<Bytes>{Bytes(kGiB / 2), Bytes(kGiB / 8)});
    grid.option("page_copy", &Decisions::page_copy, std::vector<PageCopy>{PageCopy::batch, PageCopy::gather});
}

Result<void> check_no_shards(const Decisions& d) {
    for (const auto& [key, home] : {std::pair{"weights_home", d.weights_home},
                                    {"gradients_home", d.gradients_home},
                                    {"states_home", d.states_home}}) {
        if (home != Home::ranks) continue;
        return fail("key 'plan." + std::string(key) + "'", "'ranks' with strategy '" + d.strategy + "'",
                    "'device' or 'host' (sharding goes over the ranks of a ring)");
    }
    return {};
}

}  // namespace headroom
