// The choice that the host makes where waiting pages have a limit, of one chunk and layer late in a step,
// when most steps have theirs. It has no bound but the time that the chunk's own attention takes meanwhile.
#include <benchmark/benchmark.h>

#include "decoder/selection.h"

namespace headroom::engine::bench {
namespace {

void host_choose_with_room(benchmark::State& state) {
    const int64_t layers = 28, chunks = state.range(0), blocks = state.range(1), pages_per_chunk = 32,
                  past = (chunks - 1) * pages_per_chunk;
    const PageChoice choice{4096 / blocks, 64, 1, 8};
    WaitingPages waiting(layers * past / 6, layers, chunks, pages_per_chunk);
    at::Tensor selection = at::empty({blocks, choice.budget}, at::kInt);
    const at::Tensor votes = at::rand({blocks, past});
    // The chunks before select alike, by a part of the votes.
    for (int64_t c = 3; c + 1 < chunks; ++c) {
        for (int64_t l = 0; l < layers; ++l) {
            const at::Tensor before = at::rand({1, c * pages_per_chunk});
            at::Tensor one = at::empty({1, choice.budget}, at::kInt);
            waiting.enter(c, l);
            choose_with_room(before, choice, waiting, one);
        }
    }
    const WaitingPages then = waiting;
    for (auto _ : state) {
        state.PauseTiming();
        waiting = then;
        state.ResumeTiming();
        waiting.enter(chunks - 1, 0);
        choose_with_room(votes, choice, waiting, selection);
    }
}
BENCHMARK(host_choose_with_room)
    ->ArgNames({"chunks", "blocks"})
    ->Args({32, 32})
    ->Args({32, 1})
    ->Args({256, 1})
    ->Args({1024, 1})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headroom::engine::bench
