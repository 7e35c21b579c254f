// The search: every strategy's candidates scored in closed form, the best simulated exactly.
//
// Objective: least step time within the budgets; ties by fewer bytes. Where nothing fits: least bytes above
// them. Where the space is small every candidate is simulated; else the best by score are sampled (a few
// chunks simulated) and the best of those simulated whole, as many as `op_budget` allows, at least two.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "search/estimator.h"
#include "search/evaluate.h"

namespace headroom {

struct SearchOptions {
    int64_t op_budget = 1'000'000;  // ops simulated exactly, beyond the first two candidates
    bool exact = true;              // false: the best by sampling, not simulated whole (evaluation is empty)
    bool statistics = true;         // of the evaluation; without them half the time
    int64_t at_least = 2;  // candidates simulated whole whatever op_budget says, or known to be the same step
    double link_speed = 1;  // the host link is this many times as fast as the hardware file says
    std::vector<std::string> strategies;  // empty: all, or the one that the scenario fixes
    // Asked in the caller's thread, some thousand times a second; false: best() ends as interrupted.
    std::function<bool()> go_on;
};

struct Found {
    Plan plan;
    Evaluation evaluation;
    Score score;
    int64_t sampled_ns = 0;  // step of the best candidate by sampling, which may be another than `plan`
    int64_t scored = 0, simulated = 0;
};

// Bytes above the budgets, by score; 0 where it fits.
int64_t excess_of(const Score& score, const Budget& budget);

// Keeps what candidates of the same model, hardware, context and recipe share; budgets may differ between
// calls.
class Searcher {
public:
    struct Candidate {
        Decisions decisions;
        Score score;
        int64_t excess = 0;   // bytes above the budgets
        int64_t time_ns = 0;  // best estimate so far
        int64_t total_bytes = 0;
    };
    // Candidates from the best on, as far as scores and samples tell.
    struct Ranking {
        std::vector<Candidate> candidates;
        size_t sampled = 0;  // of the first; their times are of some chunks simulated where they fit
        bool small = false;  // few short steps: all of them are simulated
        Budget budget;
        double link_speed = 1;
        int64_t scored = 0;
        bool fits() const { return candidates.front().excess == 0; }  // by score
    };

    explicit Searcher(const Scenario& scenario);
    // Error: no candidate can run; names every strategy's reason.
    Result<Found> best(const Budget& budget, const SearchOptions& options = {});

    // best() in two parts. `simulate_best` may run on another thread while this searcher ranks for other
    // budgets.
    Result<Ranking> rank(const Budget& budget, const SearchOptions& options = {});
    Result<Found> simulate_best(const Ranking& ranking, const SearchOptions& options = {});

    // The candidate that leaves most room, lowered for its exact bytes but not simulated: whether anything
    // fits.
    Result<Found> roomiest(const Budget& budget, const SearchOptions& options = {});

private:
    // Every candidate of `scenario` (this one, or with more of its decisions fixed), scored. Error: none can
    // run.
    Result<std::vector<Candidate>> candidates(const Scenario& scenario, const Budget& budget,
                                              const SearchOptions& options);
    void consider(Plan& plan, const Budget& budget, std::vector<Candidate>& all);
    // Residency shares worth trying for a candidate that leaves them free: as much on the device as fits.
    std::vector<Decisions> residencies(Plan& plan, const Budget& budget);
    Plan plan_of(const Decisions& decisions, const Budget& budget, double link_speed) const;
    Result<PricedStep> price_candidate(const Ranking& ranking, size_t index,
                                       const std::function<bool()>& go_on);
    Result<size_t> nearest_to_fit(const Ranking& ranking, const SearchOptions& options);
    void give_reason(std::string_view strategy, const std::string& why);
    // The best by sampling, not simulated.
    Found first_of(const Ranking& ranking) const;
    // Sets their times by simulating some chunks of each. Budgets do not change what a step takes: what an
    // earlier search sampled is known. False: stopped.
    bool sample(std::span<Candidate> candidates, const Budget& budget, const SearchOptions& options);

    Scenario scenario_;
    Estimator estimator_;
    double link_speed_ = 1;
    std::vector<std::pair<Decisions, int64_t>> sampled_;  // steps by sampling, in ns, at that link speed
    std::vector<std::string> reasons_;                    // of plans that cannot run, each once
    bool one_strategy_ = false;                           // asked for: reasons need not name it
    int64_t scored_ = 0;
};

}  // namespace headroom
