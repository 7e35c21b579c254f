// A prediction held against its run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fidelity/ladder.h"
#include "fidelity/prediction.h"
#include "fidelity/run_set.h"
#include "fidelity/run_summary.h"
#include "fidelity/suite.h"

namespace headroom::fidelity {

// Largest errors allowed, relative to what was measured.
struct Bounds {
    double memory = 0.01;       // every peak of every plan
    double step_median = 0.03;  // over the unseen half
    double step_worst = 0.08;   // of the unseen half
    double stream = 0.10;       // busy time of each stream of every plan
    double ladder = 0.01;       // from the predicted limit to the first context that fails
    double ranking = 0.02;      // from the plan ranked first to the fastest
};

struct Finding {
    std::string group;  // "step", "memory", "stream", "kind", "pass", "traffic"
    std::string what;   // "device peak", "device kv", "driver total", "pinned", "compute busy", "qkv"
    std::string unit;   // "ns", "bytes", "pages"
    int64_t predicted = 0, measured = 0;
    bool judged = false;  // has a bound and is large enough for it
    double bound = 0;
    // (predicted - measured) / measured; both zero: 0; measured zero: +-infinity.
    double error() const;
    bool within() const { return !judged || (error() <= bound && error() >= -bound); }
};

// Judged: step time (by step_worst), peaks and categories of at least 0.5 % of their tier's peak, the
// driver's total and pinned bytes where they were told, streams that were busy for at least 1 % of the step.
std::vector<Finding> judge(const Prediction& prediction, const RunSummary& run, const Bounds& bounds = {});

// One plan of a suite and what is known of it.
struct Entry {
    SuitePlan plan;
    std::optional<Prediction> prediction;
    std::optional<Prediction> recorded;  // predicted again from the selection that the run made
    std::optional<RunSummary> run;
    std::string missing;  // why there is no run, or no prediction

    bool judgeable() const { return prediction && run && run->ran(); }
    double step_error() const;  // needs judgeable()
};

struct LadderResult {
    Ladder ladder;
    Tokens limit, page;        // the largest context said to fit, in whole pages
    std::vector<Entry> rungs;  // by context, ascending
    std::vector<Tokens> contexts;
    // The limit, or more, ran; and the first that failed is within the bound of it. What fits is taken to fit
    // at any lesser context. Empty: not known, as rungs are missing.
    std::optional<bool> right(const Bounds& bounds) const;
};

struct RankingResult {
    Ranking ranking;
    std::vector<size_t> entries;  // of Results::entries, as predicted: fastest first
    // The one predicted fastest over the fastest measured, less 1. Empty: one was not run.
    std::optional<double> lost;
};

struct Results {
    std::string suite, title, hardware;
    std::vector<Entry> entries;
    std::vector<LadderResult> ladders;
    std::vector<RankingResult> rankings;
    std::vector<RunSet> sets;
};

// Sorts the ranking's entries by predicted step and works out `lost`.
RankingResult rank(const Ranking& ranking, const std::vector<Entry>& entries);

// What the suite shows as a whole; one line a bound.
struct Verdict {
    std::string what;            // "step time, unseen half: median error"
    std::string found;           // "2.1 %"
    std::string bound;           // "3 %"
    std::string where;           // the plan of the worst
    std::optional<bool> within;  // empty: nothing to judge it by
};
std::vector<Verdict> verdicts(const Results& results, const Bounds& bounds = {});

}  // namespace headroom::fidelity
