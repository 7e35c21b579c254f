// Attention of blocks of queries, each to keys of its own: the pages that it selected, gathered. No mask: all
// of a block's keys lie before its queries.
//
// Shapes as in attention.h, and B blocks of `block` queries (the last may be shorter), S keys a block.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace headroom::engine {

// Planned buffers that the calls may use (uint8 where not said otherwise); undefined: none.
struct BlockScratch {
    at::Tensor forward, backward;  // what cuDNN asks for
    at::Tensor packed;             // see below
    at::Tensor dq;                 // [T, h, d] of q's type, dense
    bool deterministic = false;    // backward: the same bits every time
    bool is_packed = false;        // by the call before this one, of the same single block
};
// packed: q, out and d_out of a chunk with the heads of a group packed into the query length, and log-sum-exp
// by block: 3 T h d values of `element` bytes and T h of fp32. The planner reserves it:
// packed_queries_bytes() (program/selection_scratch.h). Forward T h of fp32 are enough.

// q [T, h, d] (rows may lie apart), k, v [B, S, g, d] -> out [T, h, d], lse [T, h]. On a GPU in 16 bits, with
// scratch and where use_cudnn_graph() says so, whole blocks are one call of the library, a ragged last one
// another; without, the same through ATen, which allocates.
void block_attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t block,
                             at::Tensor out, at::Tensor lse, const BlockScratch& scratch = {});
// Gradients through these keys, as attention_backward, given the merged out and lse and d_out [T, h, d]: dq
// [T, h, d] is added to if `add_dq`, dk and dv [B, S, g, d] are overwritten. The library's backward pass runs
// at half speed on short blocks, so the heads of a group are packed into the query length: cost beside the
// call: q, out, d_out and dq copied once each.
void block_attention_backward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const at::Tensor& out, const at::Tensor& lse, const at::Tensor& d_out,
                              int64_t block, at::Tensor dq, bool add_dq, at::Tensor dk, at::Tensor dv,
                              const BlockScratch& scratch = {});

}  // namespace headroom::engine
