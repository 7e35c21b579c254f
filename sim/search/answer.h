// The answers that people come for: does it fit, what does it cost and why, what would help.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "search/evaluate.h"

namespace headroom {

class Searcher;

// `say(text, share)`: progress of long work (share in 0..1, or negative where unknown); false stops it
// (Fault::interrupted). May be empty.
using Progress = std::function<bool(const std::string&, double)>;

// What one more unit of a resource buys: the best plan with it against the best plan without.
struct Gain {
    std::string what;     // "16 GiB more device memory", "a host link twice as fast", "a second GPU"
    int64_t step_ns = 0;  // of the best plan with it (0: still does not fit)
    bool fits = false;
    std::string
        changes;  // what the plan does differently: "attention outputs on the host -> device"; empty: nothing

    // Of a step that takes `without_ns` without it; less than a 2,000th is within the sampling, and none.
    int64_t saved_ns(int64_t without_ns) const {
        const int64_t saved = without_ns - step_ns;
        return fits && saved > without_ns / 2000 ? saved : 0;
    }
};

// A single change that makes a scenario fit, found by applying it.
struct Remedy {
    std::string what;     // "context 1Mi -> 832Ki", "host budget 112 GiB -> 187 GiB", "kv_dtype bf16 -> fp8"
    std::string setting;  // as an override: "context=851968", "budget.host=187GiB"
    int64_t step_ns = 0;
    bool changes_result = false;  // another training run: dtypes, attention, optimizer
};

struct Answer {
    Plan plan;              // every decision made
    Evaluation evaluation;  // exact, with statistics
    double tokens_per_second = 0, mfu = 0;
    // Sum over passes of the busiest stream's work in each: no order of the same ops is faster without
    // interference.
    int64_t bound_ns = 0;
    std::string bound_by;               // the stream that is busiest over the step: "compute", "to_device"
    int64_t scored = 0, simulated = 0;  // candidates in closed form, and exactly
    std::vector<Gain> gains;
    std::vector<Remedy> remedies;  // where it does not fit; cheapest first
    bool remedies_tried = false;   // empty remedies then mean that none was found
    int64_t sampled_ns = 0;        // step of the best candidate by sampling: what gains are measured against
    bool fits() const { return evaluation.fits(); }
};

struct AnswerOptions {
    bool gains = true;
    bool remedies = true;
    Progress progress;
};
// The best plan for the scenario and everything there is to say about it. Where nothing fits, the plan that
// comes nearest. Error: the scenario contradicts itself, or no strategy can run it (each says why).
Result<Answer> answer(const Scenario& scenario, const AnswerOptions& options = {});
// The same in two parts, for those who show the first while the second is worked out: the plan with its
// figures, then its gains or remedies as the options ask. `searcher` is the scenario's; what it has lowered
// serves both.
Result<Answer> answer_plan(const Scenario& scenario, Searcher& searcher);
Result<void> explain(const Scenario& scenario, Searcher& searcher, Answer& answer,
                     const AnswerOptions& options);
// The same for one plan as it stands: nothing is searched.
Result<Answer> answer(const Plan& plan);

struct MaxContext {
    Tokens context;  // the largest that fits, a multiple of the page
    Answer at;       // the plan there (no gains, no remedies)
    std::string
        limit;    // the tier that stops it: "device", "host", "disk", or "the largest context of any file"
    Tokens next;  // the smallest that was found not to fit (context + page where searched to the end)
    int64_t next_excess_bytes = 0;
};
// Error: not even one page fits.
Result<MaxContext> max_context(const Scenario& scenario, const Progress& progress = {});

struct SweepPoint {
    std::string strategy;
    Tokens context;
    bool runs = false;  // the strategy can run it at all
    std::string why_not;
    bool fits = false;
    int64_t step_ns = 0;
    std::array<int64_t, kTiers> need_bytes{}, budget_bytes{};
    double tokens_per_second = 0, mfu = 0;
    Plan plan;
};
// Every strategy named (all registered ones if empty) at every context; the best plan of each.
Result<std::vector<SweepPoint>> sweep(const Scenario& scenario, const std::vector<Tokens>& contexts,
                                      const std::vector<std::string>& strategy_names,
                                      const Progress& progress = {});

}  // namespace headroom
