#include "search/gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "plan/decision_text.h"
#include "strategy/strategy.h"

namespace headroom {
namespace {

// `base_ns`: the best without, found the same way. Times are relative to the exact step: a sampled one may be
// off by a constant share. More of something never makes a step slower: it can be left unused.
Gain gain_of(std::string what, const Result<Found>& found, const Budget& budget, int64_t base_ns,
             const Answer& without) {
    Gain gain;
    gain.what = std::move(what);
    gain.fits = true;
    gain.step_ns = without.evaluation.step_ns;
    if (!found || excess_of(found->score, budget) > 0 || base_ns <= 0) return gain;
    const double ratio = static_cast<double>(found->sampled_ns) / static_cast<double>(base_ns);
    if (ratio >= 1.0) return gain;
    gain.step_ns = static_cast<int64_t>(ratio * static_cast<double>(without.evaluation.step_ns));
    gain.changes = changes_between(without.plan.decisions, found->plan.decisions);
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

std::vector<Gain> gains(const Scenario& scenario, Searcher& searcher, const Answer& found, int64_t sampled_ns,
                        SecondGpuSearch& second_gpu) {
    std::vector<Gain> result;
    SearchOptions options;
    options.exact = false;
    const Budget budget = scenario.plan.budget;
    const auto with = [&](std::string what, const Budget& b) {
        result.push_back(gain_of(std::move(what), searcher.best(b, options), b, sampled_ns, found));
    };
    Budget more = budget;
    more.device += Bytes(16 * kGiB);
    with("16 GiB more device memory", more);
    more = budget;
    more.host += Bytes(64 * kGiB);
    with("64 GiB more host memory", more);

    SearchOptions faster = options;
    faster.link_speed = 2;
    result.push_back(
        gain_of("a host link twice as fast", searcher.best(budget, faster), budget, sampled_ns, found));
    if (second_gpu.started())
        result.push_back(gain_of("a second GPU", second_gpu.get(), budget, sampled_ns, found));
    return result;
}

}  // namespace headroom
