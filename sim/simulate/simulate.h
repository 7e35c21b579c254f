// Program x cost model -> times. Streams run their ops in order; ops that run side by side share links and
// slow each other down (sharing.h); rates are re-shared at each event.
//
// Contract: integer nanoseconds, at least one an op, and fixed-point rates: equal input gives equal output
// everywhere. What happens at one instant happens together, in whatever order: first ends, then the starts
// they allow. Cost: below 100 ns an op; 20 bytes an op and 16 bytes a memory change while it runs, 16 bytes
// an op of result.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "hardware/hardware.h"
#include "plan/plan.h"
#include "program/program.h"
#include "timeline/statistics.h"
#include "timeline/timeline.h"

namespace headroom {

struct SimulateOptions {
    bool memory_curve = false;  // keep every MemorySample; peaks are found either way
    // Called every million ops with the share done; false stops the simulation (Fault::interrupted). May be
    // empty.
    std::function<bool(double)> progress;
};

struct Simulation {
    std::vector<int64_t> start_ns, end_ns;  // by op id
    int64_t duration_ns = 0;
    std::array<Peak, kTiers> peaks{};  // of live bytes
    std::array<int64_t, kStreams> busy_ns{};
    std::vector<MemorySample> memory;  // where asked for
};
// Errors: an op of 2^43 ns (2.4 hours) or more alone, a step that ends past 2^60 ns (Fault::bad_input: absurd
// figures of the hardware); progress() said stop (interrupted); a program that breaks its contract
// (run_failed: our mistake).
Result<Simulation> simulate(const Program& program, const Hardware& hardware,
                            const SimulateOptions& options = {});

// The Timeline of a simulated step: ops, waits, memory, plan and its hash.
Timeline timeline_of(const Plan& plan, const Program& program, Simulation simulation);

}  // namespace headroom
