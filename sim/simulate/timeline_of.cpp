#include <array>
#include <vector>

#include "simulate/simulate.h"
#include "simulate/simulated_step.h"

namespace headroom {
namespace {

std::string rates_of(const Hardware& hardware) {
    const std::string kind = hardware.calibrated ? "calibrated" : "uncalibrated";
    return hardware.provenance.empty() ? kind : kind + ": " + hardware.provenance;
}

std::string selection_source_of(const Plan& plan) {
    if (!plan.decisions.attention.sparse) return {};
    return plan.selection.recorded ? plan.selection.recorded->source : plan.selection.source;
}

// What is live at the end of the step is told once more there: viewers draw a counter from sample to sample,
// and one that never changes would be empty in chrome://tracing.
void close_curves(std::vector<MemorySample>& memory, int64_t end_ns) {
    std::array<std::array<const MemorySample*, kCategories>, kTiers> last{};
    for (const MemorySample& s : memory)
        last[static_cast<size_t>(s.tier)][static_cast<size_t>(s.category)] = &s;
    std::vector<MemorySample> closing;
    for (const auto& tier : last) {
        for (const MemorySample* s : tier) {
            if (s == nullptr || s->bytes == 0 || s->time_ns >= end_ns) continue;
            closing.push_back(*s);
            closing.back().time_ns = end_ns;
        }
    }
    memory.insert(memory.end(), closing.begin(), closing.end());
}

}  // namespace

Timeline timeline_of(const Plan& plan, const Program& program, Simulation simulation) {
    Timeline t;
    t.source = "simulated";
    t.plan = write_plan(plan);
    t.plan_hash = plan_hash(plan);
    t.selection_source = selection_source_of(plan);
    t.machine = plan.hardware.name;
    t.rates = rates_of(plan.hardware);
    t.capacity_bytes = {plan.budget.device.count(), plan.budget.host.count(), plan.budget.disk.count()};
    const SimulatedStep step{program, simulation};
    t.ops.reserve(step.size());
    t.waits_begin.reserve(step.size() + 1);
    t.waits.reserve(num_edges(program.waits));
    t.waits_begin.push_back(0);
    for (size_t id = 0; id < step.size(); ++id) {
        t.ops.push_back(step.op(id));
        const auto waits = step.waits(id);
        t.waits.insert(t.waits.end(), waits.begin(), waits.end());
        t.waits_begin.push_back(static_cast<uint32_t>(t.waits.size()));
    }
    t.memory = std::move(simulation.memory);
    close_curves(t.memory, simulation.duration_ns);
    t.traffic = program.traffic;
    return t;
}

}  // namespace headroom
