#include "simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulate/execute.h"

namespace headroom {

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
    return execute(program, costs, hardware, options);
}

}  // namespace headroom
