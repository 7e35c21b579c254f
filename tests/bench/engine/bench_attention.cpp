// Attention of a chunk: to itself, to a piece of the past, and by blocks to gathered pages.
#include "bench/engine/timed.h"
#include "decoder/attention.h"
#include "decoder/block_attention.h"

namespace headroom::engine::bench {
namespace {

// Two products forward, five backward, of queries x keys that are seen.
constexpr double kForward = 4.0 * kHeads * kDim, kBackward = 10.0 * kHeads * kDim;

struct Operands {
    at::Tensor q = drawn({kTokens, kHeads, kDim}), d_out = drawn({kTokens, kHeads, kDim}), k, v;
    at::Tensor out = at::empty_like(q), dq = at::empty_like(q), dk, dv;
    at::Tensor lse = at::empty({kTokens, kHeads}, q.options().dtype(at::kFloat));
    explicit Operands(at::IntArrayRef keys)
        : k(drawn(keys)), v(drawn(keys)), dk(at::empty_like(k)), dv(at::empty_like(k)) {}
};

// Argument: keys of the past; 0: the chunk itself, causally.
void attention(benchmark::State& state) {
    const int64_t past = state.range(0), keys = past > 0 ? past : kTokens;
    Operands o({keys, kGroups, kDim});
    const Span span{past, 0, 0};
    const double seen = static_cast<double>(kTokens) * static_cast<double>(keys) / (past > 0 ? 1 : 2);
    if (state.range(1) == 0) {
        return measure(state, kTensorCores, kForward * seen,
                       [&] { attention_forward(o.q, o.k, o.v, span, o.out, o.lse); });
    }
    attention_forward(o.q, o.k, o.v, span, o.out, o.lse);
    measure(state, kTensorCores, kBackward * seen,
            [&] { attention_backward(o.q, o.k, o.v, o.out, o.lse, o.d_out, span, o.dq, false, o.dk, o.dv); });
}
HEADROOM_GPU_BENCHMARK(attention)->ArgNames({"past", "backward"})->ArgsProduct({{0, 8192, 32768}, {0, 1}});

// 8192 gathered keys for each block.
void block_attention(benchmark::State& state) {
    const int64_t block = state.range(0), keys = 8192;
    Operands o({kTokens / block, keys, kGroups, kDim});
    const double seen = static_cast<double>(kTokens) * static_cast<double>(keys);
    if (state.range(1) == 0) {
        return measure(state, kTensorCores, kForward * seen,
                       [&] { block_attention_forward(o.q, o.k, o.v, block, o.out, o.lse); });
    }
    block_attention_forward(o.q, o.k, o.v, block, o.out, o.lse);
    measure(state, kTensorCores, kBackward * seen, [&] {
        block_attention_backward(o.q, o.k, o.v, o.out, o.lse, o.d_out, block, o.dq, false, o.dk, o.dv);
    });
}
HEADROOM_GPU_BENCHMARK(block_attention)
    ->ArgNames({"block", "backward"})
    ->ArgsProduct({{128, 1024, 4096}, {0, 1}});

}  // namespace
}  // namespace headroom::engine::bench
