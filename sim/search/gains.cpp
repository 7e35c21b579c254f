#include "search/gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "plan/decision_text.h"
#include "strategy/strategy.h"

namespace headroom {
namespace {

// Times are relative to the exact step: a sampled one may be off by a constant share. More of something never
// makes a step slower: it can be left unused.
Gain gain_of(const Widened& search, const Answer& without) {
    Gain gain;
    gain.what = search.what;
    gain.fits = true;
    gain.step_ns = without.evaluation.step_ns;
    if (!search.found || excess_of(search.found->score, search.budget) > 0 || without.sampled_ns <= 0)
        return gain;
    const double ratio =
        static_cast<double>(search.found->sampled_ns) / static_cast<double>(without.sampled_ns);
    if (ratio >= 1.0) return gain;
    gain.step_ns = static_cast<int64_t>(ratio * static_cast<double>(without.evaluation.step_ns));
    gain.changes = changes_between(without.plan.decisions, search.found->plan.decisions);
    return gain;
}

}  // namespace

SecondGpuSearch::SecondGpuSearch(const Scenario& scenario) {
    if (scenario.gpus != 1 || scenario.plan.hardware.max_gpus < 2) return;
    Scenario two = scenario;
    two.gpus = 2;
    two.fixed.erase("strategy");
    found_ = std::async(std::launch::async, [this, two = std::move(two)] {
        SearchOptions parallel;
        parallel.exact = false;
        parallel.strategies = {"tensor-parallel", "ring"};
        parallel.go_on = [this] { return !stop_; };
        return Searcher(two).best(two.plan.budget, parallel);
    });
}

std::vector<Widened> widen(const Scenario& scenario, Searcher& searcher, SecondGpuSearch& second_gpu) {
    std::vector<Widened> result;
    SearchOptions options;
    options.exact = false;
    const Budget budget = scenario.plan.budget;
    const auto with = [&](const char* what, const Budget& b) {
        result.push_back({what, b, searcher.best(b, options)});
    };
    Budget more = budget;
    more.device += Bytes(16 * kGiB);
    with("16 GiB more device memory", more);
    more = budget;
    more.host += Bytes(64 * kGiB);
    with("64 GiB more host memory", more);
    options.link_speed = 2;
    with("a host link twice as fast", budget);
    if (second_gpu.started()) result.push_back({"a second GPU", budget, second_gpu.get()});
    return result;
}

std::vector<Gain> gains(const std::vector<Widened>& searches, const Answer& without) {
    std::vector<Gain> result;
    for (const Widened& search : searches) result.push_back(gain_of(search, without));
    return result;
}

}  // namespace headroom
