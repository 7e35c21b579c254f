#include "simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulate/execute.h"

namespace headroom {

namespace {

// GEMMs and attention at the clock that the step's mean FLOP/s leave (PowerLimit).
void limit_power(const Program& program, const Hardware& hardware, std::vector<WorkCost>& costs) {
    if (hardware.power == PowerLimit{}) return;
    std::vector<int64_t> count(program.works.size(), 0);
    for (const Op& op : program.ops)
        if (op.stream == Stream::compute) ++count[op.work];
    double busy = 0, gemm = 0, attention = 0;
    for (size_t i = 0; i < count.size(); ++i) {
        const double times = static_cast<double>(count[i]);
        busy += times * static_cast<double>(costs[i].duration_ns) * 1e-9;
        const double flops = times * static_cast<double>(program.works[i].flops);
        if (costs[i].sharing == Sharing::gemm) gemm += flops;
        if (costs[i].sharing == Sharing::attention) attention += flops;
    }
    if (busy <= 0) return;
    const double factor = hardware.power.factor(gemm / busy, attention / busy);
    for (WorkCost& cost : costs) {
        if (cost.sharing != Sharing::gemm && cost.sharing != Sharing::attention) continue;
        cost.duration_ns =
            std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(cost.duration_ns) * factor + 0.5));
    }
}

}  // namespace

Result<Simulation> simulate(const Program& program, const Hardware& hardware,
                            const SimulateOptions& options) {
    std::vector<WorkCost> costs;
    costs.reserve(program.works.size());
    for (const Work& work : program.works) {
        try {
            // Work of none takes a nanosecond too: two ops of a stream that start at one instant would be
            // drawn inside each other (docs/timeline-format.md).
            costs.push_back({std::max<int64_t>(1, duration_of(work, hardware).count()), sharing_of(work)});
        } catch (const Overflow&) {
            return fail(fmt::format("work {} ({}) on {}", costs.size(), name_of(work.kind), hardware.name),
                        "it never ends: a rate or bandwidth that it needs is zero or nearly so",
                        "less than 2^43 ns (2.4 hours)");
        }
    }
    limit_power(program, hardware, costs);
    return execute(program, costs, hardware, options);
}

}  // namespace headroom
