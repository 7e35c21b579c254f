#include "search/evaluate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "simulate/simulated_step.h"
#include "strategy/strategy.h"
#include "timeline/step_statistics.h"

namespace headroom {

bool Evaluation::fits() const {
    return excess() == 0;
}

int64_t Evaluation::excess() const {
    int64_t sum = 0;
    for (const TierNeed& t : tiers) sum += std::max<int64_t>(0, -t.headroom());
    return sum;
}

std::array<TierNeed, kTiers> needs_of(const Plan& plan, const Program& program) {
    const std::array<int64_t, kTiers> budgets{plan.budget.device.count(), plan.budget.host.count(),
                                              plan.budget.disk.count()};
    std::array<TierNeed, kTiers> tiers;
    for (size_t t = 0; t < kTiers; ++t) {
        tiers[t].need_bytes = program.arena[t];
        tiers[t].budget_bytes = budgets[t];
    }
    tiers[0].need_bytes += program.standing[0][static_cast<size_t>(Category::libraries)];
    return tiers;
}

Result<PricedStep> price(const Plan& plan, const SelectionSet& selections, const SimulateOptions& options) {
    PricedStep step;
    HEADROOM_TRY(step.program, lower(plan, selections));
    HEADROOM_TRY(step.simulation, simulate(step.program, plan.hardware, options));
    Evaluation& e = step.evaluation;
    e.step_ns = step.simulation.duration_ns;
    e.ops = step.program.size();
    e.traffic = step.program.traffic;
    e.tiers = needs_of(plan, step.program);
    for (size_t t = 0; t < kTiers; ++t) e.tiers[t].peak = step.simulation.peaks[t];
    return step;
}

namespace {

// Exact without the memory curve.
void take_peaks(Evaluation& evaluation) {
    for (size_t t = 0; t < kTiers; ++t) evaluation.statistics.peaks[t] = evaluation.tiers[t].peak;
}

}  // namespace

void add_statistics(Evaluation& evaluation, const Timeline& timeline) {
    evaluation.statistics = statistics_of(timeline);
    take_peaks(evaluation);
}

Evaluation with_statistics(PricedStep step) {
    step.evaluation.statistics = step_statistics(SimulatedStep{step.program, step.simulation});
    take_peaks(step.evaluation);
    return std::move(step.evaluation);
}

Result<Evaluation> evaluate(const Plan& plan, const SelectionSet& selections, bool statistics) {
    HEADROOM_TRY(PricedStep step, price(plan, selections));
    if (!statistics) return std::move(step.evaluation);
    return with_statistics(std::move(step));
}

Result<Evaluation> evaluate(const Plan& plan, bool statistics) {
    return evaluate(plan, select_pages(plan), statistics);
}

Result<Timeline> predict(const Plan& plan, const SimulateOptions& options) {
    HEADROOM_TRY(Program program, lower(plan));
    SimulateOptions with_memory = options;
    with_memory.memory_curve = true;
    HEADROOM_TRY(Simulation simulation, simulate(program, plan.hardware, with_memory));
    return timeline_of(plan, program, std::move(simulation));
}

}  // namespace headroom
