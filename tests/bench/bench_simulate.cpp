// Ops per second of the simulator; the goal is 10 million on one core.
#include <benchmark/benchmark.h>

#include "bench/synthetic.h"
#include "simulate/simulate.h"

namespace headroom {
namespace {

void simulate_step(benchmark::State& state, bench::Mix mix, bool memory_curve) {
    const Hardware hardware = bench::machine();
    const Program program = bench::step_of(mix, 1'000'000);
    SimulateOptions options;
    options.memory_curve = memory_curve;
    for (auto _ : state) {
        const auto simulation = simulate(program, hardware, options);
        if (!simulation) {
            state.SkipWithError(simulation.error().text().c_str());
            break;
        }
        benchmark::DoNotOptimize(simulation->duration_ns);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(program.size()));
}

BENCHMARK_CAPTURE(simulate_step, compute, bench::Mix::compute, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_step, lock_step, bench::Mix::lock_step, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_step, all_streams, bench::Mix::all_streams, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_step, all_streams_curve, bench::Mix::all_streams, true)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom
