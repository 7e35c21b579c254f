#include "run/measured.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "simulate/live_memory.h"
#include "simulate/simulate.h"

namespace headroom::engine {

Result<Timeline> measured_timeline(const Plan& plan, const Program& program, StepResult step,
                                   std::string machine, std::string date) {
    Simulation measured;
    measured.start_ns = std::move(step.start_ns);
    measured.end_ns = std::move(step.end_ns);
    for (const int64_t end : measured.end_ns) measured.duration_ns = std::max(measured.duration_ns, end);

    HEADROOM_TRY(LiveMemory memory, LiveMemory::of(program, true));
    struct Event {
        int64_t at;
        bool start;
        OpId op;
    };
    std::vector<Event> events;
    events.reserve(2 * program.size());
    for (OpId op = 0; op < program.size(); ++op) {
        events.push_back({measured.start_ns[op], true, op});
        events.push_back({measured.end_ns[op], false, op});
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.at < b.at; });
    OpId last_started = 0;
    memory.settle(0, 0);
    for (size_t i = 0; i < events.size(); ++i) {
        const Event& e = events[i];
        const size_t stream = static_cast<size_t>(program.ops[e.op].stream);
        if (e.start) {
            memory.start(stream, e.op);
            last_started = e.op;
        } else {
            memory.end(stream, e.op);
        }
        if (i + 1 == events.size() || events[i + 1].at != e.at) memory.settle(e.at, last_started);
    }
    measured.peaks = memory.peaks();
    measured.memory = memory.take_curve();

    Timeline t = timeline_of(plan, program, std::move(measured));
    t.source = "measured";
    t.machine = std::move(machine);
    t.date = std::move(date);
    t.rates.clear();
    // A loss that is no number is told by its absence and by the run's own message: trace files hold numbers.
    if (std::isfinite(step.loss)) t.results["loss"] = step.loss;
    if (std::isfinite(step.gradient_norm)) t.results["gradient_norm"] = step.gradient_norm;
    return t;
}

}  // namespace headroom::engine
