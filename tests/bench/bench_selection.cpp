// Drawing the pages that 4 Mi tokens select, without reuse: the most picks.
#include <benchmark/benchmark.h>

#include "plan/decisions.h"
#include "plan/selection.h"

namespace headroom {
namespace {

void draw(benchmark::State& state) {
    SelectionModel model;
    model.block_reuse = model.chunk_reuse = 0;
    const Attention attention{.sparse = true, .budget = 64, .block = 128, .sink = 1, .local = 8};
    size_t pages = 0;
    for (auto _ : state) {
        const Selections drawn = draw_selections(model, attention, 1024, 4096, 128);
        pages += drawn.pages.size();
        benchmark::DoNotOptimize(drawn.pages.data());
    }
    state.SetItemsProcessed(static_cast<int64_t>(pages));
}

BENCHMARK(draw)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom
