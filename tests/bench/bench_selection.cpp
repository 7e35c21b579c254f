// Drawing the pages that 4 Mi tokens select. Uniformly without reuse: the most picks. By weight, with the
// reuse that runs showed, for one block a chunk and for blocks of 128 queries.
#include <benchmark/benchmark.h>

#include "plan/decisions.h"
#include "plan/selection.h"

namespace headroom {
namespace {

void draw(benchmark::State& state, const SelectionModel& model, int64_t block) {
    const Attention attention{.sparse = true, .budget = 64, .block = block, .sink = 1, .local = 8};
    size_t pages = 0;
    for (auto _ : state) {
        const Selections drawn = draw_selections(model, attention, 1024, 4096, 128);
        pages += drawn.pages.size();
        benchmark::DoNotOptimize(drawn.pages.data());
    }
    state.SetItemsProcessed(static_cast<int64_t>(pages));
}

const SelectionModel kUniform{.block_reuse = 0, .chunk_reuse = 0};
const SelectionModel kWeighted{.block_reuse = 0.75, .chunk_reuse = 0.3, .popularity = 0.7, .recency = 1};

BENCHMARK_CAPTURE(draw, uniform_blocks_of_128, kUniform, 128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw, weighted_one_block, kWeighted, 4096)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw, weighted_blocks_of_128, kWeighted, 128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom
