// The optimizer beside the bytes it has to move.
#include "decoder/optimizer.h"

#include "bench/engine/timed.h"

namespace headroom::engine::bench {
namespace {

// bf16 weights and fp32 gradients of 128 Mi parameters.
void optimizer(benchmark::State& state, Optimizer kind, Dtype states, bool master) {
    const int64_t n = 128 << 20;
    const at::Tensor w = drawn({n}), g = drawn({n}, at::kFloat);
    Recipe recipe;
    recipe.optimizer = kind;
    recipe.states = states;
    recipe.master_weights = master;
    const at::Tensor bytes = at::zeros({12 * n + 4096}, w.options().dtype(at::kByte));
    const OptimizerState s = optimizer_state_in(recipe, n, bytes);
    kernels::OptimizerStep step{.rate = 1e-4, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .decay = 0.1};
    step.correction1 = 0.1;
    step.correction2 = 0.05;
    // What is read and written; with a master the weights are only written.
    size_t moved = g.nbytes() + (master ? 1 : 2) * w.nbytes();
    for (const at::Tensor& t : {s.master, s.first, s.second, s.first_scales, s.second_scales})
        if (t.defined()) moved += 2 * t.nbytes();
    measure(state, kMemory, static_cast<double>(moved), [&] { optimizer_update(w, g, s, 0, step); });
}

void adamw_fp32(benchmark::State& state) {
    optimizer(state, Optimizer::adamw, Dtype::fp32, false);
}
HEADROOM_GPU_BENCHMARK(adamw_fp32);
void adamw_bf16_master(benchmark::State& state) {
    optimizer(state, Optimizer::adamw, Dtype::bf16, true);
}
HEADROOM_GPU_BENCHMARK(adamw_bf16_master);
void adamw_8bit(benchmark::State& state) {
    optimizer(state, Optimizer::adamw8bit, Dtype::fp32, false);
}
HEADROOM_GPU_BENCHMARK(adamw_8bit);

}  // namespace
}  // namespace headroom::engine::bench
