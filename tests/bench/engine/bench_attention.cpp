// Attention of a chunk: to itself, to a piece of the past, and by blocks to gathered pages; straight through
// cuDNN's graph API in planned buffers, and through ATen's call of the same library.
#include <algorithm>

#include "bench/engine/timed.h"
#include "decoder/attention.h"
#include "decoder/block_attention.h"
#include "hardware/hardware.h"
#include "program/selection_scratch.h"

namespace headroom::engine::bench {
namespace {

// Two products forward, five backward, of queries x keys that are seen.
constexpr double kForward = 4.0 * kHeads * kDim, kBackward = 10.0 * kHeads * kDim;

at::Tensor bytes(int64_t count) {
    return at::empty({count}, at::TensorOptions().dtype(at::kByte).device(at::kCUDA));
}

// As an executor has them: q, k and v side by side where the keys are the chunk's own, log-sum-exp by head.
struct Operands {
    at::Tensor q = drawn({kTokens, kHeads, kDim}), d_out = drawn({kTokens, kHeads, kDim}), k, v;
    at::Tensor out = at::empty_like(q), dq = at::empty_like(q), dk, dv;
    at::Tensor lse = at::empty({kHeads, kTokens}, q.options().dtype(at::kFloat)).t();
    at::Tensor forward = bytes(kAttentionForwardWorkspace);
    explicit Operands(at::IntArrayRef keys)
        : k(drawn(keys)), v(drawn(keys)), dk(at::empty_like(k)), dv(at::empty_like(k)) {}
};

// Arguments: keys of the past (0: the chunk itself, causally); backward; by the graph API; deterministic.
void attention(benchmark::State& state) {
    const int64_t past = state.range(0), keys = past > 0 ? past : kTokens;
    const bool backward = state.range(1) != 0, graph = state.range(2) != 0,
               deterministic = state.range(3) != 0;
    Operands o({keys, kGroups, kDim});
    const Span span{past, 0, 0};
    const double seen = static_cast<double>(kTokens) * static_cast<double>(keys) / (past > 0 ? 1 : 2);
    const auto forward = [&] {
        attention_forward(o.q, o.k, o.v, span, o.out, o.lse, graph ? o.forward : at::Tensor());
    };
    if (!backward) return measure(state, kTensorCores, kForward * seen, forward);
    forward();
    AttentionScratch scratch;
    if (graph)
        scratch = {bytes(attention_workspace(kTokens, keys, kHeads, kDim, deterministic, false).count()),
                   at::empty_like(o.q), deterministic};
    measure(state, kTensorCores, kBackward * seen, [&] {
        attention_backward(o.q, o.k, o.v, o.out, o.lse, o.d_out, span, o.dq, false, o.dk, o.dv, scratch);
    });
}
HEADROOM_GPU_BENCHMARK(attention)
    ->ArgNames({"past", "backward", "graph", "deterministic"})
    ->ArgsProduct({{0, 8192, 32768}, {0, 1}, {0, 1}, {0}})
    ->ArgsProduct({{0, 8192}, {1}, {1}, {1}});

// Gathered keys of each block. One block: all of the past.
void block_attention(benchmark::State& state) {
    const int64_t block = state.range(0), keys = state.range(3);
    const bool backward = state.range(1) != 0, graph = state.range(2) != 0;
    Operands o({kTokens / block, keys, kGroups, kDim});
    const double seen = static_cast<double>(kTokens) * static_cast<double>(keys);
    BlockScratch scratch;
    if (graph) {
        const int64_t queries = kTokens / block * round_up(block * (kHeads / kGroups), 128);
        scratch = {o.forward, bytes(attention_workspace(queries, keys, kGroups, kDim, false, true).count()),
                   bytes(packed_queries_bytes(kTokens, kHeads, kDim, 2)), at::empty_like(o.q), false};
    }
    const auto forward = [&] { block_attention_forward(o.q, o.k, o.v, block, o.out, o.lse, scratch); };
    if (!backward) return measure(state, kTensorCores, kForward * seen, forward);
    forward();
    measure(state, kTensorCores, kBackward * seen, [&] {
        block_attention_backward(o.q, o.k, o.v, o.out, o.lse, o.d_out, block, o.dq, false, o.dk, o.dv,
                                 scratch);
    });
}
HEADROOM_GPU_BENCHMARK(block_attention)
    ->ArgNames({"block", "backward", "graph", "keys"})
    ->ArgsProduct({{128, 1024, 4096}, {0, 1}, {0, 1}, {8192}})
    ->ArgsProduct({{4096}, {1}, {1}, {32768, 65536}});

}  // namespace
}  // namespace headroom::engine::bench
