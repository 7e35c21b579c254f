// Solving one set of running classes, and looking it up again.
#include <benchmark/benchmark.h>

#include "bench/synthetic.h"
#include "simulate/rate_table.h"

namespace headroom {
namespace {

constexpr Running kAll{Sharing::gemm, Sharing::to_device, Sharing::to_host, Sharing::peer, Sharing::disk};

void solve(benchmark::State& state) {
    const Hardware hardware = bench::machine();
    Running running = kAll;
    for (auto _ : state) {
        benchmark::DoNotOptimize(running);
        benchmark::DoNotOptimize(solve_sharing(running, hardware));
    }
    state.SetItemsProcessed(state.iterations());
}

void look_up(benchmark::State& state) {
    const Hardware hardware = bench::machine();
    RateTable table(hardware);
    RunningKey key = 0;
    for (size_t s = 0; s < kStreams; ++s) key |= key_of(s, kAll[s]);
    for (auto _ : state) {
        benchmark::DoNotOptimize(key);
        benchmark::DoNotOptimize(table.at(key));
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK(solve);
BENCHMARK(look_up);

}  // namespace
}  // namespace headroom
