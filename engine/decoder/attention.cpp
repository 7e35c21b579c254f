#include "decoder/attention.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "decoder/graph_operands.h"
#include "decoder/on_gpu.h"

namespace headroom::engine {
namespace {

// [T, h, d] -> [g, (h / g) T, d]: the heads of a group share their keys.
at::Tensor by_group(const at::Tensor& x, int64_t groups, at::ScalarType type) {
    const int64_t T = x.size(0), per = x.size(1) / groups, d = x.size(2);
    return x.to(type).view({T, groups, per, d}).permute({1, 2, 0, 3}).reshape({groups, per * T, d});
}
// Back: [g, (h / g) T, d] -> [T, h, d].
at::Tensor by_token(const at::Tensor& x, int64_t T) {
    const int64_t groups = x.size(0), per = x.size(1) / T, d = x.size(2);
    return x.view({groups, per, T, d}).permute({2, 0, 1, 3}).reshape({T, groups * per, d});
}
// [T, h] <-> [g, (h / g) T, 1].
at::Tensor rows_by_group(const at::Tensor& x, int64_t groups, at::ScalarType type) {
    return by_group(x.unsqueeze(-1), groups, type);
}

at::Tensor keys_by_group(const at::Tensor& k, at::ScalarType type) {
    return k.to(type).permute({1, 0, 2});
}

// [1, 1, T, S]: true where the query does not see the key; undefined where all see all.
at::Tensor hidden_from(const at::Tensor& q, const at::Tensor& k, const Span& s) {
    const int64_t T = q.size(0), S = k.size(0);
    const bool causal = s.key_at + S - 1 > s.query_at;
    const bool windowed = s.window > 0 && s.key_at <= s.query_at + T - 1 - s.window;
    if (!causal && !windowed) return {};
    const at::Tensor query = at::arange(T, q.options().dtype(at::kLong)).unsqueeze(1) + s.query_at;
    const at::Tensor key = at::arange(S, q.options().dtype(at::kLong)).unsqueeze(0) + s.key_at;
    at::Tensor hidden = key > query;
    if (windowed) hidden = hidden.logical_or(key <= query - s.window);
    return hidden.view({1, 1, T, S});
}

// Scaled scores [g, (h / g) T, S], -inf where hidden.
at::Tensor scores_of(const at::Tensor& q, const at::Tensor& k, const Span& span, at::ScalarType type) {
    const int64_t T = q.size(0), S = k.size(0), groups = k.size(1);
    at::Tensor scores = at::matmul(by_group(q, groups, type), keys_by_group(k, type).transpose(1, 2));
    scores.mul_(1.0 / std::sqrt(static_cast<double>(q.size(2))));
    const at::Tensor hidden = hidden_from(q, k, span);
    if (hidden.defined())
        scores.view({groups, -1, T, S}).masked_fill_(hidden, -std::numeric_limits<double>::infinity());
    return scores;
}

// cuDNN's kernels take 16-bit values, a causal square or no mask.
bool runs_on_cudnn(const at::Tensor& q, const at::Tensor& k, const Span& s) {
    if (!q.is_cuda() || !is_half(q)) return false;
    const int64_t T = q.size(0), S = k.size(0);
    const bool causal_square = s.key_at == s.query_at && T == S, all_seen = s.key_at + S - 1 <= s.query_at;
    const bool windowed = s.window > 0 && s.key_at <= s.query_at + T - 1 - s.window;
    return (causal_square || all_seen) && !windowed;
}

// [T, h, d] -> [1, h, T, d], as the library wants it; nothing is copied.
at::Tensor as_batch(const at::Tensor& x) {
    return x.transpose(0, 1).unsqueeze(0);
}
at::Tensor as_tokens(const at::Tensor& x) {
    return x.squeeze(0).transpose(0, 1);
}

std::atomic<bool> through_graph = true;

// [T, h] that lie as dense [h, T].
bool heads_apart(const at::Tensor& lse) {
    return lse.scalar_type() == at::kFloat && lse.t().is_contiguous();
}
bool runs_on_graph(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& out,
                   const at::Tensor& lse) {
    return through_graph && q.size(0) * k.size(0) > 1 && fits_graph(q) && fits_graph(k) && fits_graph(v) &&
           fits_graph(out) && heads_apart(lse);
}

CudnnShape shape_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& out,
                    const Span& span) {
    CudnnShape s;
    s.queries = q.size(0);
    s.keys = k.size(0);
    s.heads = q.size(1);
    s.kv_heads = k.size(1);
    s.head_dim = q.size(2);
    s.bf16 = q.scalar_type() == at::kBFloat16;
    s.causal = span.key_at == span.query_at;
    s.q = strides_of(q);
    s.k = strides_of(k);
    s.v = strides_of(v);
    s.out = strides_of(out);
    return s;
}

}  // namespace

void use_cudnn_graph(bool on) {
    through_graph = on;
}
bool uses_cudnn_graph() {
    return through_graph;
}

void attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Span& span,
                       at::Tensor out, at::Tensor lse, const at::Tensor& workspace) {
    if (runs_on_cudnn(q, k, span)) {
        if (runs_on_graph(q, k, v, out, lse) && workspace.defined()) {
            return check_done(cudnn_attention_forward(
                shape_of(q, k, v, out, span),
                {q.data_ptr(), k.data_ptr(), v.data_ptr(), out.data_ptr(), lse.data_ptr<float>()},
                workspace.data_ptr(), workspace.numel(), current_stream()));
        }
        const auto result = at::_scaled_dot_product_cudnn_attention(as_batch(q), as_batch(k), as_batch(v), {},
                                                                    true, 0.0, span.key_at == span.query_at);
        out.copy_(as_tokens(std::get<0>(result)));
        lse.copy_(std::get<1>(result).view({lse.size(1), lse.size(0)}).t());
        return;
    }
    const at::ScalarType type = lse.scalar_type();
    const int64_t T = q.size(0);
    const at::Tensor scores = scores_of(q, k, span, type);
    const at::Tensor sums = at::logsumexp(scores, {-1}, true);
    const at::Tensor none = sums.isneginf();
    const at::Tensor p = (scores - sums.masked_fill(none, 0)).exp_();
    out.copy_(by_token(at::matmul(p, keys_by_group(v, type)), T));
    lse.copy_(by_token(sums, T).squeeze(-1));
}

void attention_merge(at::Tensor out, at::Tensor lse, const at::Tensor& part, const at::Tensor& part_lse) {
    if (on_gpu(out, part) && lse.scalar_type() == at::kFloat && lse.strides() == part_lse.strides()) {
        kernels::merge(bits(out), lse.data_ptr<float>(), bits(part), part_lse.data_ptr<float>(), out.size(0),
                       {out.size(1), lse.stride(0), lse.stride(1)}, out.size(2), current_stream());
        return check_launch("merge");
    }
    const at::Tensor both = at::logaddexp(lse, part_lse);
    const at::Tensor finite = both.masked_fill(both.isneginf(), 0);
    const at::Tensor mine = (lse - finite).exp_().unsqueeze(-1),
                     theirs = (part_lse - finite).exp_().unsqueeze(-1);
    out.copy_(out.to(lse.scalar_type()) * mine + part.to(lse.scalar_type()) * theirs);
    lse.copy_(both);
}

void attention_sink(at::Tensor out, at::Tensor lse, const at::Tensor& sinks) {
    const at::Tensor both = at::logaddexp(lse, sinks.to(lse.scalar_type()).unsqueeze(0));
    out.mul_((lse - both).exp_().unsqueeze(-1));
    lse.copy_(both);
}

void attention_sink_backward(const at::Tensor& out, const at::Tensor& lse, const at::Tensor& d_out,
                             const at::Tensor& sinks, at::Tensor d_sinks) {
    const at::ScalarType type = lse.scalar_type();
    const at::Tensor delta = (d_out.to(type) * out.to(type)).sum(-1);
    const at::Tensor p = (sinks.to(type).unsqueeze(0) - lse).exp_();
    d_sinks.sub_((p * delta).sum(0));
}

void attention_backward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& out,
                        const at::Tensor& lse, const at::Tensor& d_out, const Span& span, at::Tensor dq,
                        bool add_dq, at::Tensor dk, at::Tensor dv, const AttentionScratch& scratch) {
    if (runs_on_cudnn(q, k, span)) {
        const at::Tensor d_q_part =
            add_dq || dq.scalar_type() != q.scalar_type() || !fits_graph(dq) ? scratch.dq : dq;
        if (runs_on_graph(q, k, v, out, lse) && scratch.workspace.defined() && d_q_part.defined() &&
            fits_graph(d_out) && fits_graph(dk) && fits_graph(dv)) {
            CudnnShape shape = shape_of(q, k, v, out, span);
            shape.deterministic = scratch.deterministic;
            shape.d_out = strides_of(d_out);
            shape.dq = strides_of(d_q_part);
            shape.dk = strides_of(dk);
            shape.dv = strides_of(dv);
            check_done(cudnn_attention_backward(
                shape,
                {q.data_ptr(), k.data_ptr(), v.data_ptr(), out.data_ptr(), d_out.data_ptr(),
                 lse.data_ptr<float>(), d_q_part.data_ptr(), dk.data_ptr(), dv.data_ptr()},
                scratch.workspace.data_ptr(), scratch.workspace.numel(), current_stream()));
            if (add_dq) {
                dq.add_(d_q_part);  // converts as it adds
            } else if (!dq.is_same(d_q_part)) {
                dq.copy_(d_q_part);
            }
            return;
        }
        const at::Tensor sums = lse.t().contiguous().view({1, lse.size(1), lse.size(0), 1});
        const at::Tensor philox = at::zeros({}, q.options().dtype(at::kLong));
        const auto [d_q, d_k, d_v] = at::_scaled_dot_product_cudnn_attention_backward(
            as_batch(d_out), as_batch(q), as_batch(k), as_batch(v), as_batch(out), sums, philox, philox, {},
            {}, {}, q.size(0), k.size(0), 0.0, span.key_at == span.query_at);
        if (add_dq) {
            dq.add_(as_tokens(d_q));
        } else {
            dq.copy_(as_tokens(d_q));
        }
        dk.copy_(as_tokens(d_k));
        dv.copy_(as_tokens(d_v));
        return;
    }
    const at::ScalarType type = lse.scalar_type();
    const int64_t T = q.size(0), groups = k.size(1);
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
    const at::Tensor p = (scores_of(q, k, span, type) - rows_by_group(lse, groups, type)).exp_();
    const at::Tensor d_o = by_group(d_out, groups, type);
    const at::Tensor delta = (d_o * by_group(out, groups, type)).sum(-1, true);
    dv.copy_(at::matmul(p.transpose(1, 2), d_o).permute({1, 0, 2}));
    const at::Tensor ds =
        p.mul(at::matmul(d_o, keys_by_group(v, type).transpose(1, 2)).sub_(delta)).mul_(scale);
    const at::Tensor d_q = by_token(at::matmul(ds, keys_by_group(k, type)), T);
    if (add_dq) {
        dq.add_(d_q);
    } else {
        dq.copy_(d_q);
    }
    dk.copy_(at::matmul(ds.transpose(1, 2), by_group(q, groups, type)).permute({1, 0, 2}));
}

}  // namespace headroom::engine
