// CUDA kernels of page selection (decoder/selection.h says what is computed, and is their CPU twin).
//
// Contract: as in pointwise.h. Products of bf16 values, summed in fp32; the same input gives the same bits.
// Scores are never stored: one pass over tiles of queries x pages finds each query's log-sum-exp, a second
// makes the scores again and sums the votes. Cost: twice the products of tokens x groups x pages x dim on the
// tensor cores, next to no memory traffic.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pointwise.h"
#include "program/selection_scratch.h"

namespace headroom::engine::kernels {

// groups: KV heads; dim: a multiple of 16, at most kMostDim; pages: more than budget.
struct SelectShape {
    int64_t tokens, heads, groups, dim, pages, block;
    int64_t budget, sink, local;
    int64_t blocks() const { return (tokens + block - 1) / block; }
    int64_t scratch_bytes() const { return selection_scratch_bytes(tokens, block, groups, pages); }
};
inline constexpr int64_t kMostDim = 256;

// How the scratch is used: blocks that one set of launches takes, parts that the pages are cut into for the
// log-sum-exps, parts that a block's queries are cut into for the votes, and whether the queries of a KV head
// are summed once or at each use. Offsets in bytes from the start of the scratch, which holds the votes
// first.
struct SelectLayout {
    int64_t blocks = 1, page_parts = 1, query_parts = 1;
    bool summed = false;
    int64_t sums_at = 0, queries_at = 0, votes_at = 0, end = 0;
};
// Always fits into shape.scratch_bytes(). Pure arithmetic on the host.
SelectLayout select_layout(const SelectShape& shape);

// selection [blocks, budget]; scratch: shape.scratch_bytes(), 16-byte aligned; afterwards it begins with the
// votes [blocks, pages] fp32. Rows of q are `stride` values apart.
void select_pages(const bf16* q, int64_t stride, const bf16* means, const SelectShape& shape, void* scratch,
                  int32_t* selection, cudaStream_t stream);

}  // namespace headroom::engine::kernels
