// The memory-bound parts of the decoder. Bytes: what has to be read and written once.
#include <ATen/cuda/CUDAContext.h>

#include "bench/engine/timed.h"
#include "decoder/attention.h"
#include "decoder/on_gpu.h"
#include "decoder/pointwise.h"
#include "decoder/reductions.h"

namespace headroom::engine::bench {
namespace {

double bytes_of(std::initializer_list<at::Tensor> tensors) {
    size_t sum = 0;
    for (const at::Tensor& t : tensors) sum += t.nbytes();
    return static_cast<double>(sum);
}

void rms_norm_(benchmark::State& state) {
    const at::Tensor x = drawn({kTokens, kHidden}), w = drawn({kHidden});
    at::Tensor out = at::empty_like(x);
    measure(state, kMemory, bytes_of({x, w, out}), [&] { rms_norm(x, w, 1e-6, out); });
}
HEADROOM_GPU_BENCHMARK(rms_norm_);

void rms_norm_backward_(benchmark::State& state) {
    const at::Tensor x = drawn({kTokens, kHidden}), w = drawn({kHidden}), d = drawn({kTokens, kHidden});
    at::Tensor dx = drawn({kTokens, kHidden}), dw = drawn({kHidden}, at::kFloat);
    measure(state, kMemory, bytes_of({x, w, d, dx, dx, dw, dw}),
            [&] { rms_norm_backward(x, w, 1e-6, d, dx, true, dw); });
}
HEADROOM_GPU_BENCHMARK(rms_norm_backward_);

void swiglu_(benchmark::State& state) {
    const at::Tensor gate_up = drawn({kTokens, 2 * kInner});
    at::Tensor act = at::empty({kTokens, kInner}, gate_up.options());
    measure(state, kMemory, bytes_of({gate_up, act}), [&] { swiglu(gate_up, act); });
}
HEADROOM_GPU_BENCHMARK(swiglu_);

void swiglu_backward_(benchmark::State& state) {
    const at::Tensor d = drawn({kTokens, kInner});
    at::Tensor gate_up = drawn({kTokens, 2 * kInner});
    measure(state, kMemory, bytes_of({gate_up, gate_up, d}), [&] { swiglu_backward(gate_up, d); });
}
HEADROOM_GPU_BENCHMARK(swiglu_backward_);

void rope_(benchmark::State& state) {
    Model m;
    m.head_dim = kDim;
    m.rope.theta = 1e6;
    at::Tensor x = drawn({kTokens, kHeads + kGroups, kDim});
    const RopeTable table = rope_table(m, {}, 0, kTokens, x.options());
    measure(state, kMemory, bytes_of({x, x, table.cos, table.sin}), [&] { rope(x, table, false); });
}
HEADROOM_GPU_BENCHMARK(rope_);

void merge_(benchmark::State& state) {
    at::Tensor out = drawn({kTokens, kHeads, kDim}), lse = drawn({kTokens, kHeads}, at::kFloat);
    const at::Tensor part = drawn({kTokens, kHeads, kDim}), part_lse = drawn({kTokens, kHeads}, at::kFloat);
    measure(state, kMemory, bytes_of({out, out, lse, lse, part, part_lse}),
            [&] { attention_merge(out, lse, part, part_lse); });
}
HEADROOM_GPU_BENCHMARK(merge_);

void cross_entropy_(benchmark::State& state) {
    const at::Tensor drawn_logits = drawn({1024, kVocabulary});
    at::Tensor logits = drawn_logits.clone(), loss = at::zeros({}, logits.options().dtype(at::kDouble));
    const at::Tensor targets = at::randint(kVocabulary, {1024}, logits.options().dtype(at::kLong));
    measure(state, kMemory, bytes_of({logits, logits}),
            [&] { cross_entropy(logits, targets, 1.0 / 1024, loss); });
}
HEADROOM_GPU_BENCHMARK(cross_entropy_);

void column_sums_(benchmark::State& state) {
    const at::Tensor x = drawn({kTokens, (kHeads + 2 * kGroups) * kDim});
    at::Tensor sums = drawn({x.size(1)}, at::kFloat);
    measure(state, kMemory, bytes_of({x, sums, sums}), [&] { add_column_sums(x, sums); });
}
HEADROOM_GPU_BENCHMARK(column_sums_);

void squares_(benchmark::State& state) {
    const at::Tensor g = drawn({256 << 20}, at::kFloat), sum = at::zeros({}, g.options().dtype(at::kDouble));
    measure(state, kMemory, bytes_of({g}), [&] { add_squares(g, sum); });
}
HEADROOM_GPU_BENCHMARK(squares_);

// Argument: percent of the tokens that have one id.
void embedding_gradient(benchmark::State& state) {
    const at::Tensor rows = drawn({kTokens, kHidden}), table = drawn({kVocabulary, kHidden}, at::kFloat);
    const at::Tensor ids = at::randint(kVocabulary, {kTokens}, rows.options().dtype(at::kInt));
    ids.narrow(0, 0, kTokens * state.range(0) / 100).fill_(11);
    measure(state, kMemory, bytes_of({rows, rows, rows, rows, rows}), [&] { add_rows(ids, rows, table); });
}
HEADROOM_GPU_BENCHMARK(embedding_gradient)->Arg(0)->Arg(5)->Arg(100);

}  // namespace
}  // namespace headroom::engine::bench
