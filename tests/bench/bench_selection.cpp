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

SelectionModel model_of(double block_reuse, double chunk_reuse, double popularity, double recency) {
    SelectionModel m;
    m.block_reuse = block_reuse;
    m.chunk_reuse = chunk_reuse;
    m.popularity = popularity;
    m.recency = recency;
    return m;
}
const SelectionModel kUniform = model_of(0, 0, 0, 0), kWeighted = model_of(0.75, 0.3, 0.7, 1);

BENCHMARK_CAPTURE(draw, uniform_blocks_of_128, kUniform, 128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw, weighted_one_block, kWeighted, 4096)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw, weighted_blocks_of_128, kWeighted, 128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom
