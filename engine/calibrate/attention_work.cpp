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

HeadStrides strides_of(const at::Tensor& x) {
    return {x.stride(0), x.stride(1)};
}

// What the library asks for; 0 where it is not asked.
int64_t asked_workspace(const AttentionRow& r, const Inputs& in, const at::Tensor& out,
                        const at::Tensor& d_out, const at::Tensor& dq, const at::Tensor& dk,
                        bool deterministic) {
    if (!in.q.is_cuda() || !uses_cudnn_graph() || r.blocks > 1) return 0;
    CudnnShape s;
    s.queries = r.queries, s.keys = r.keys;
    s.heads = r.heads, s.kv_heads = r.kv_heads, s.head_dim = r.head_dim;
    s.causal = r.causal;
    s.deterministic = deterministic;
    s.q = strides_of(in.q), s.k = strides_of(in.k), s.v = strides_of(in.v), s.out = strides_of(out);
    s.d_out = strides_of(d_out), s.dq = strides_of(dq), s.dk = s.dv = strides_of(dk);
    const Result<int64_t> bytes = cudnn_workspace(s, true);
    TORCH_CHECK(bytes.has_value(), bytes.error().text());
    return *bytes;
}

std::function<void()> forward(const AttentionRow& r, Operands& o) {
    o.begin();
    const Inputs in = inputs(r, o);
    const int64_t T = in.q.size(0);
    const at::Tensor out = o.out({T, r.heads, r.head_dim}), lse = o.out({r.heads, T}, at::kFloat).t();
    if (r.blocks > 1)
        return [=, block = r.queries] { block_attention_forward(in.q, in.k, in.v, block, out, lse); };
    const at::Tensor workspace = in.q.is_cuda() ? o.workspace(kAttentionForwardWorkspace) : at::Tensor();
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
    if (r.blocks > 1) {
        const at::Tensor dq = o.sums({T, r.heads, r.head_dim}), dk = o.out(in.k.sizes()),
                         dv = o.out(in.v.sizes());
        return [=, block = r.queries] {
            block_attention_backward(in.q, in.k, in.v, out, lse, d_out, block, dq, false, dk, dv);
        };
    }
    at::Tensor dq, dk, dv;
    AttentionScratch scratch;
    if (r.causal) {
        const at::Tensor d_qkv = o.out({T, q + 2 * kv});
        dq = heads_of(d_qkv, 0, r.heads, r.head_dim);
        dk = heads_of(d_qkv, q, r.kv_heads, r.head_dim);
        dv = heads_of(d_qkv, q + kv, r.kv_heads, r.head_dim);
    } else {
        dq = o.sums({T, r.heads, r.head_dim});
        dk = o.out(in.k.sizes());
        dv = o.out(in.v.sizes());
        scratch.dq = o.out({T, r.heads, r.head_dim});
    }
    scratch.deterministic = deterministic;
    if (in.q.is_cuda()) {
        const int64_t asked =
            asked_workspace(r, in, out, d_out, r.causal ? dq : scratch.dq, dk, deterministic);
        workspace_mib = std::floor(static_cast<double>(asked) / static_cast<double>(kMiB));
        const int64_t planned =
            attention_workspace(r.queries, r.keys, r.heads, r.head_dim, deterministic, r.heads == r.kv_heads)
                .count();
        scratch.workspace = o.workspace(std::max(asked, planned));
    }
    return [=, add = !r.causal] {
        attention_backward(in.q, in.k, in.v, out, lse, d_out, in.span, dq, add, dk, dv, scratch);
    };
}

}  // namespace

AttentionWork attention_work(const AttentionRow& r, Operands& o) {
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
    if (gpu && r.blocks == 1 && uses_cudnn_graph()) {
        w.deterministic =
            built(w.deterministic.name, [&] { return backward(r, o, true, w.deterministic_workspace_mib); });
    } else {
        w.deterministic.problem = "no such form";
    }
    return w;
}

}  // namespace headroom::engine
