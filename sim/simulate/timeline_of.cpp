#include <array>
#include <vector>

#include "simulate/simulate.h"

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

std::vector<TimelineOp> ops_of(const Program& program, const Simulation& simulation) {
    std::vector<TimelineOp> ops;
    ops.reserve(program.size());
    for (size_t i = 0; i < program.size(); ++i) {
        const Op& op = program.ops[i];
        const Work& work = program.works[op.work];
        ops.push_back({.start_ns = simulation.start_ns[i],
                       .end_ns = simulation.end_ns[i],
                       .bytes = work.bytes,
                       .flops = work.flops,
                       .chunk = op.chunk,
                       .layer = op.layer,
                       .piece = op.piece,
                       .kind = op.kind,
                       .stream = op.stream,
                       .pass = op.pass,
                       .sequence = op.sequence});
    }
    return ops;
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
    t.ops = ops_of(program, simulation);
    t.waits_begin.reserve(program.size() + 1);
    t.waits.reserve(num_edges(program.waits));
    t.waits_begin.push_back(0);
    for (OpId op = 0; op < program.size(); ++op) {
        const auto [begin, end] = adjacent_vertices(op, program.waits);
        t.waits.insert(t.waits.end(), begin, end);
        t.waits_begin.push_back(static_cast<uint32_t>(t.waits.size()));
    }
    t.memory = std::move(simulation.memory);
    close_curves(t.memory, simulation.duration_ns);
    t.traffic = program.traffic;
    return t;
}

}  // namespace headroom
