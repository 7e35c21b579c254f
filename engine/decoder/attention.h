// Attention of a chunk's queries to some keys, forward and backward, and the merge of several such parts.
//
// Shapes: T queries, S keys, h query heads, g KV heads, d head size; query head i reads KV head i / (h / g).
// log-sum-exp [T, h] is natural, of the scaled scores, in the type of sums (fp32; fp64 beside fp64), and may
// lie as [h, T] in memory, as cuDNN has it.
// Which keys a query sees: key position <= query position, and with a window w > 0 position > query position
// - w. Positions are those of the sequence: query i stands at `query_at` + i, key j at `key_at` + j.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace headroom::engine {

struct Span {
    int64_t query_at = 0, key_at = 0, window = 0;
};

// Planned buffers that a backward call may use; all of them undefined: none.
struct AttentionScratch {
    at::Tensor workspace;  // uint8: what cuDNN asks for
    at::Tensor dq;         // [T, h, d] of q's type, dense: for a dq that is added to, or of another type
    bool deterministic = false;  // the same bits every time
};

// Whether 16-bit attention on a GPU goes straight through cuDNN's graph API (decoder/cudnn_attention.h),
// where the mask, the strides and the given scratch allow it, instead of ATen's call of the same library,
// which allocates its outputs and its workspace. On at first; of the whole process.
void use_cudnn_graph(bool on);
bool uses_cudnn_graph();

// out [T, h, d], lse [T, h]; a query that sees no key gets zeros and -inf. `workspace` (uint8): what cuDNN's
// graph API may use; undefined: ATen's call. Errors (c10::Error): a workspace that is too small, with the
// bytes.
void attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Span& span,
                       at::Tensor out, at::Tensor lse, const at::Tensor& workspace = {});
// out and lse of all keys = those of `out`, `lse` and of a further part. Source: online softmax (Milakov,
// Gimelshein, arXiv 1805.02867).
void attention_merge(at::Tensor out, at::Tensor lse, const at::Tensor& part, const at::Tensor& part_lse);
// Adds a sink to the keys that out and lse are of: one logit per head of `sinks` [h] that joins the softmax's
// denominator and has no value. Source: gpt-oss (transformers, models/gpt_oss); Xiao et al., arXiv
// 2309.17453.
void attention_sink(at::Tensor out, at::Tensor lse, const at::Tensor& sinks);
// Adds the gradient of the sinks to d_sinks [h], given the merged out, its log-sum-exp and its gradient:
// -sum over queries of exp(sink - lse) rowsum(dO out).
void attention_sink_backward(const at::Tensor& out, const at::Tensor& lse, const at::Tensor& d_out,
                             const at::Tensor& sinks, at::Tensor d_sinks);
// Gradients through this part of the keys, given the merged out, its log-sum-exp and its gradient:
//   P = exp(S - lse), dV = P^T dO, dS = P (dO V^T - rowsum(dO out)), dQ = dS K / sqrt(d), dK = dS^T Q /
//   sqrt(d).
// dq is added to if `add_dq`; dk and dv are overwritten. Errors (c10::Error): a workspace that is too small,
// with the bytes. Source: FlashAttention-2 (arXiv 2307.08691), section 2.3.
void attention_backward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& out,
                        const at::Tensor& lse, const at::Tensor& d_out, const Span& span, at::Tensor dq,
                        bool add_dq, at::Tensor dk, at::Tensor dv, const AttentionScratch& scratch = {});

}  // namespace headroom::engine
