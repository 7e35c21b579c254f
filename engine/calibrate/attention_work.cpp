#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "calibrate/work.h"
#include "decoder/attention.h"
#include "decoder/block_attention.h"
#include "decoder/cudnn_attention.h"
#include "hardware/hardware.h"

namespace headroom::engine {
namespace {

std::string name_of_row(const AttentionRow& r, const char* pass) {
    std::string text = std::string("attention ") + pass + " of ";
    if (r.blocks > 1) text += std::to_string(r.blocks) + " blocks of ";
    text += std::to_string(r.queries) + " x " + std::to_string(r.keys) + ", " + std::to_string(r.heads) +
            " over " + std::to_string(r.kv_heads) + " heads of " + std::to_string(r.head_dim);
    return r.causal ? text + ", causal" : text;
}

at::Tensor heads_of(const at::Tensor& rows, int64_t first, int64_t heads, int64_t dim) {
    return rows.narrow(1, first, heads * dim).unflatten(1, {heads, dim});
}

// Of [T, h, d] and [S, g, d], or [B, S, g, d] for blocks.
struct Inputs {
    at::Tensor q, k, v;
    Span span;
};
Inputs inputs(const AttentionRow& r, Operands& o) {
    const int64_t T = r.queries * r.blocks, q = int64_t{r.heads} * r.head_dim,
                  kv = int64_t{r.kv_heads} * r.head_dim;
    const at::Tensor qkv = o.drawn({T, q + 2 * kv});
    Inputs in;
    in.q = heads_of(qkv, 0, r.heads, r.head_dim);
    if (r.causal) {
        in.k = heads_of(qkv, q, r.kv_heads, r.head_dim);
        in.v = heads_of(qkv, q + kv, r.kv_heads, r.head_dim);
        return in;
    }
    in.span = {r.keys, 0, 0};
    const int64_t heads = r.kv_heads, dim = r.head_dim;
    for (at::Tensor* t : {&in.k, &in.v}) {
        *t = r.blocks > 1 ? o.drawn({r.blocks, r.keys, heads, dim}) : o.drawn({r.keys, heads, dim});
    }
    return in;
}

// As the engine calls the library backward: the chunk's own keys as they lie in d_qkv; of the past, the heads
// of a group packed into the query length.
CudnnShape backward_shape(const AttentionRow& r, bool deterministic) {
    const int64_t d = r.head_dim, q = r.heads * d, kv = r.kv_heads * d;
    CudnnShape s;
    s.keys = r.keys;
    s.kv_heads = r.kv_heads;
    s.head_dim = d;
    s.causal = r.causal;
    s.deterministic = deterministic;
    if (r.causal) {
        s.queries = r.queries;
        s.heads = r.heads;
        s.q = s.k = s.v = s.dq = s.dk = s.dv = {q + 2 * kv, d};
        s.out = s.d_out = {q, d};
    } else {
        s.queries = r.queries * (r.heads / r.kv_heads);
        s.heads = r.kv_heads;
        s.batch = r.blocks;
        s.q = s.out = s.d_out = s.dq = {kv, d, s.queries * kv};
        s.k = s.v = s.dk = s.dv = {kv, d, r.keys * kv};
    }
    return s;
}
// What the library asks for; 0 where it is not asked.
int64_t asked_workspace(const AttentionRow& r, const at::Tensor& q, bool deterministic) {
    if (!q.is_cuda() || !uses_cudnn_graph()) return 0;
    const Result<int64_t> bytes = cudnn_workspace(backward_shape(r, deterministic), true);
    TORCH_CHECK(bytes.has_value(), bytes.error().text());
    return *bytes;
}
int64_t planned_workspace(const AttentionRow& r, bool deterministic) {
    if (r.causal)
        return attention_workspace(r.queries, r.keys, r.heads, r.head_dim, deterministic, false).count();
    const int64_t queries = r.blocks * round_up(r.queries * (r.heads / r.kv_heads), 128);
    return attention_workspace(queries, r.keys, r.kv_heads, r.head_dim, deterministic, true).count();
}

// As block_attention.h packs q, out and d_out of the past, and log-sum-exp behind them.
at::Tensor packed_queries(const AttentionRow& r, Operands& o, double lse) {
    const int64_t T = r.queries * r.blocks, values = 3 * T * r.heads * r.head_dim;
    const at::Tensor drawn = o.drawn({values}).view(at::kByte);
    const at::Tensor sums = at::full({T * r.heads}, lse, drawn.options().dtype(at::kFloat));
    return at::cat({drawn, sums.view(at::kByte)});
}

std::function<void()> forward(const AttentionRow& r, Operands& o) {
    o.begin();
    const Inputs in = inputs(r, o);
    const int64_t T = in.q.size(0);
    const at::Tensor out = o.out({T, r.heads, r.head_dim}), lse = o.out({r.heads, T}, at::kFloat).t();
    const at::Tensor workspace = in.q.is_cuda() ? o.workspace(kAttentionForwardWorkspace) : at::Tensor();
    if (r.blocks > 1) {
        const BlockScratch scratch{
            workspace, {}, o.out({T * r.heads}, at::kFloat).view(at::kByte), {}, false};
        return
            [=, block = r.queries] { block_attention_forward(in.q, in.k, in.v, block, out, lse, scratch); };
    }
    return [=] { attention_forward(in.q, in.k, in.v, in.span, out, lse, workspace); };
}

std::function<void()> backward(const AttentionRow& r, Operands& o, bool deterministic,
                               double& workspace_mib) {
    o.begin();
    const Inputs in = inputs(r, o);
    const int64_t T = in.q.size(0), q = int64_t{r.heads} * r.head_dim, kv = int64_t{r.kv_heads} * r.head_dim;
    const at::Tensor out = o.drawn({T, r.heads, r.head_dim}),
                     d_out = heads_of(o.drawn({T, q}), 0, r.heads, r.head_dim);
    // As it would be: scores of normal values are near normal, so their sum of exponents is keys x e^0.5.
    const double sum = std::log(static_cast<double>(r.keys)) + 0.5;
    const at::Tensor lse = at::full({r.heads, T}, sum, in.q.options().dtype(at::kFloat)).t();
    at::Tensor workspace;
    if (in.q.is_cuda()) {
        const int64_t asked = asked_workspace(r, in.q, deterministic);
        workspace_mib = std::floor(static_cast<double>(asked) / static_cast<double>(kMiB));
        workspace = o.workspace(std::max(asked, planned_workspace(r, deterministic)));
    }
    if (r.causal) {
        const at::Tensor d_qkv = o.out({T, q + 2 * kv});
        const at::Tensor dq = heads_of(d_qkv, 0, r.heads, r.head_dim),
                         dk = heads_of(d_qkv, q, r.kv_heads, r.head_dim),
                         dv = heads_of(d_qkv, q + kv, r.kv_heads, r.head_dim);
        const AttentionScratch scratch{workspace, {}, deterministic};
        return [=] {
            attention_backward(in.q, in.k, in.v, out, lse, d_out, in.span, dq, false, dk, dv, scratch);
        };
    }
    // One block: most calls of a layer find the queries packed by the first.
    const bool one = r.blocks == 1;
    const at::Tensor k = one ? in.k.unsqueeze(0) : in.k, v = one ? in.v.unsqueeze(0) : in.v,
                     dq = o.sums({T, r.heads, r.head_dim}), dk = o.out(k.sizes()), dv = o.out(v.sizes());
    BlockScratch scratch;
    if (in.q.is_cuda())
        scratch = {{}, workspace, packed_queries(r, o, sum), o.out({T, r.heads, r.head_dim}), deterministic,
                   one};
    return [=, block = r.queries] {
        block_attention_backward(in.q, k, v, out, lse, d_out, block, dq, true, dk, dv, scratch);
    };
}

}  // namespace

AttentionWork attention_work(const AttentionRow& r, Operands& o, bool deterministic) {
    AttentionWork w;
    const bool gpu = o.options().device().is_cuda();
    w.library = r.blocks > 1         ? "engine-blocks"
                : !gpu               ? "aten"
                : uses_cudnn_graph() ? "cudnn-graph"
                                     : "cudnn-aten";
    w.forward = built(name_of_row(r, "forward"), [&] { return forward(r, o); });
    w.backward = built(name_of_row(r, "backward"), [&] { return backward(r, o, false, w.workspace_mib); });
    // ATen's call has no deterministic form on a GPU, and a CPU's is the other one.
    w.deterministic.name = name_of_row(r, "backward, deterministic,");
    if (deterministic && gpu && uses_cudnn_graph()) {
        w.deterministic =
            built(w.deterministic.name, [&] { return backward(r, o, true, w.deterministic_workspace_mib); });
    } else {
        w.deterministic.problem = kNotMeasured;
    }
    return w;
}

}  // namespace headroom::engine
