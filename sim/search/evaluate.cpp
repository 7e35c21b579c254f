#include "search/evaluate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "strategy/strategy.h"

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

Result<Evaluation> evaluate(const Plan& plan, const SelectionSet& selections, bool with_statistics,
                            const SimulateOptions& options) {
    HEADROOM_TRY(Program program, lower(plan, selections));
    SimulateOptions simulate_options = options;
    simulate_options.memory_curve = false;
    HEADROOM_TRY(Simulation simulation, simulate(program, plan.hardware, simulate_options));
    Evaluation e;
    e.step_ns = simulation.duration_ns;
    e.ops = program.size();
    e.traffic = std::move(program.traffic);
    e.tiers = needs_of(plan, program);
    for (size_t t = 0; t < kTiers; ++t) e.tiers[t].peak = simulation.peaks[t];
    if (with_statistics) {
        const std::array<Peak, kTiers> peaks = simulation.peaks;
        e.statistics = statistics_of(timeline_of(plan, program, std::move(simulation)));
        e.statistics.peaks = peaks;  // exact without the memory curve
    }
    return e;
}

Result<Evaluation> evaluate(const Plan& plan, bool with_statistics) {
    return evaluate(plan, select_pages(plan), with_statistics);
}

Result<Timeline> predict(const Plan& plan, const SimulateOptions& options) {
    HEADROOM_TRY(Program program, lower(plan));
    SimulateOptions with_memory = options;
    with_memory.memory_curve = true;
    HEADROOM_TRY(Simulation simulation, simulate(program, plan.hardware, with_memory));
    return timeline_of(plan, program, std::move(simulation));
}

}  // namespace headroom
