// One plan priced exactly: lowered, simulated, measured against its budgets.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "plan/plan.h"
#include "plan/throughput.h"
#include "program/program.h"
#include "program/selected.h"
#include "simulate/simulate.h"
#include "timeline/statistics.h"
#include "timeline/timeline.h"

namespace headroom {

// What a step needs of one tier. `need` is what must be allocated: the arena, and on the device the libraries
// too; the worst instant's live bytes are `peak.bytes`; what is left between them is slack (gaps of address
// assignment).
struct TierNeed {
    int64_t need_bytes = 0;
    int64_t budget_bytes = 0;
    Peak peak;
    int64_t headroom() const { return budget_bytes - need_bytes; }
};

struct Evaluation {
    std::array<TierNeed, kTiers> tiers;
    int64_t step_ns = 0;  // all sequences of the batch, update included
    size_t ops = 0;
    Statistics statistics;  // filled by evaluate() where asked for
    std::vector<Traffic> traffic;

    bool fits() const;
    // Sum over the tiers of bytes above the budget; 0 where it fits.
    int64_t excess() const;
};

// Exact bytes of each tier of a lowered plan; peaks are not known before it is simulated.
std::array<TierNeed, kTiers> needs_of(const Plan& plan, const Program& program);

// An evaluation without statistics, and what these are worked out from.
struct PricedStep {
    Evaluation evaluation;
    Program program;
    Simulation simulation;
};
// Cost: about 200 ns an op (lower and simulate).
Result<PricedStep> price(const Plan& plan, const SelectionSet& selections,
                         const SimulateOptions& options = {});
// With statistics. Cost: another 50 ns an op.
Evaluation with_statistics(PricedStep step);
// Of the step that was evaluated, where its timeline is there.
void add_statistics(Evaluation& evaluation, const Timeline& timeline);

// Both in one.
Result<Evaluation> evaluate(const Plan& plan, const SelectionSet& selections, bool statistics);
Result<Evaluation> evaluate(const Plan& plan, bool statistics);

// The predicted Timeline of a plan, memory curves included.
Result<Timeline> predict(const Plan& plan, const SimulateOptions& options = {});

}  // namespace headroom
