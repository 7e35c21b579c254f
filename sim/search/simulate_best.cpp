// The exact part of a search: the best of a ranking, lowered and simulated whole.
#include <algorithm>
#include <atomic>
#include <future>
#include <limits>
#include <tuple>
#include <utility>

#include "search/interruption.h"
#include "search/search.h"

namespace headroom {
namespace {

constexpr size_t kNearest = 8;  // candidates lowered for their bytes where nothing fits by score

bool better_exact(const Evaluation& a, const Evaluation& b) {
    if (a.fits() != b.fits()) return a.fits();
    if (!a.fits() && a.excess() != b.excess()) return a.excess() < b.excess();
    int64_t bytes_a = 0, bytes_b = 0;
    for (const TierNeed& t : a.tiers) bytes_a += t.need_bytes;
    for (const TierNeed& t : b.tiers) bytes_b += t.need_bytes;
    return std::tie(a.step_ns, bytes_a) < std::tie(b.step_ns, bytes_b);
}

}  // namespace

Result<PricedStep> Searcher::price_candidate(const Ranking& ranking, size_t index,
                                             const std::function<bool()>& go_on) {
    const Plan plan = plan_of(ranking.candidates[index].decisions, ranking.budget, ranking.link_speed);
    SimulateOptions options;
    if (go_on) options.progress = [&go_on](double) { return go_on(); };
    return price(plan, estimator_.selections(plan), options);
}

// Scores are near, not exact: of the first few the one with the fewest exact bytes above the budgets, without
// simulating them.
Result<size_t> Searcher::nearest_to_fit(const Ranking& ranking, const SearchOptions& options) {
    size_t nearest = 0;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < std::min(ranking.candidates.size(), kNearest) && least > 0; ++i) {
        if (options.go_on && !options.go_on()) return interruption();
        const Plan plan = plan_of(ranking.candidates[i].decisions, ranking.budget, ranking.link_speed);
        HEADROOM_TRY(const Program sizes, lower(plan, estimator_.selections(plan), {{}, true}));
        Evaluation e;
        e.tiers = needs_of(plan, sizes);
        if (e.excess() >= least) continue;
        least = e.excess();
        nearest = i;
    }
    return nearest;
}

Result<Found> Searcher::simulate_best(const Ranking& ranking, const SearchOptions& options) {
    const std::vector<Candidate>& all = ranking.candidates;
    std::atomic<bool> stopped = false;
    const auto asked = [&] { return !options.go_on || options.go_on(); };
    const std::function<bool()> ask = [&] {
        if (!asked()) stopped = true;
        return !stopped;
    };
    const std::function<bool()> heed = [&] { return !stopped; };  // on another thread
    Found found = first_of(ranking);
    PricedStep fastest;
    bool have = false;
    const auto take = [&](size_t index, PricedStep step) {
        ++found.simulated;
        if (have && !better_exact(step.evaluation, fastest.evaluation)) return;
        have = true;
        found.plan = plan_of(all[index].decisions, ranking.budget, ranking.link_speed);
        found.score = all[index].score;
        fastest = std::move(step);
    };
    // Where nothing fits by score, from the one that does come nearest.
    size_t first = 0;
    if (!ranking.fits()) {
        HEADROOM_TRY(first, nearest_to_fit(ranking, options));
    }
    // Sampled to the same nanosecond: a decision that changes nothing in this step. Once one of them is known
    // to fit, the others, which need no fewer bytes, are not looked at.
    const auto same_step = [&](const Candidate& a, const Candidate& b) {
        return !ranking.small && a.excess == 0 && b.excess == 0 && a.time_ns == b.time_ns &&
               a.decisions.strategy == b.decisions.strategy;
    };
    std::vector<size_t> fitting;  // simulated
    std::vector<bool> done(all.size(), false);
    const auto known = [&](size_t i) {
        return done[i] || std::any_of(fitting.begin(), fitting.end(),
                                      [&](size_t f) { return same_step(all[f], all[i]); });
    };
    int64_t ops = 0;
    for (size_t i = first; i < all.size(); ++i) {
        if (known(i)) continue;
        const bool fits = have && fastest.evaluation.fits();
        if (have && !fits && (!ranking.fits() || i >= kNearest)) break;
        if (static_cast<int64_t>(i) >= options.at_least && fits && ops >= options.op_budget) break;
        if (i >= ranking.sampled && (ranking.small || fits)) break;
        // Two at a time.
        const bool two =
            options.at_least > 1 && ranking.fits() && i + 1 < all.size() && !same_step(all[i], all[i + 1]);
        std::future<Result<PricedStep>> second;
        if (two)
            second = std::async(std::launch::async, [&, i] { return price_candidate(ranking, i + 1, heed); });
        std::vector<std::pair<size_t, Result<PricedStep>>> results;
        results.emplace_back(i, price_candidate(ranking, i, ask));
        if (two) results.emplace_back(i + 1, second.get());
        if (stopped || !asked()) return interruption();
        for (auto& [index, result] : results) {
            if (!result) return tl::unexpected<Error>(result.error());
            done[index] = true;
            if (result->evaluation.fits()) fitting.push_back(index);
            ops += static_cast<int64_t>(result->evaluation.ops);
            take(index, std::move(*result));
        }
    }
    found.evaluation =
        options.statistics ? with_statistics(std::move(fastest)) : std::move(fastest.evaluation);
    return found;
}

}  // namespace headroom
