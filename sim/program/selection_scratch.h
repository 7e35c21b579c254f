// Where selections stand, and what the selection of one chunk and layer works in: planner and engine count
// alike.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/plan.h"

namespace headroom {

// Queries of a block whose scores exist at once: a block of 4096 queries at 1Mi tokens would need half a GiB.
inline constexpr int64_t kScoredQueries = 512;

// Votes of all blocks, and the scores of some queries of one, in fp32 (or, with few pages, two sums of each
// of a block's queries).
inline int64_t selection_scratch_bytes(int64_t tokens, int64_t block, int64_t kv_heads, int64_t past_pages) {
    const int64_t blocks = (tokens + block - 1) / block, rows = std::min(block, tokens) * kv_heads;
    const int64_t scores = std::min(rows, kScoredQueries * kv_heads) * past_pages * 4;
    return blocks * past_pages * 4 + std::max(scores, rows * 8 + 8);
}

// What a backward call of attention to the past packs, the heads of a group as further queries: q, out and
// d_out of a chunk, and log-sum-exp in fp32. h query heads of d values of `element` bytes.
inline int64_t packed_queries_bytes(int64_t tokens, int64_t heads, int64_t head_dim, int64_t element) {
    return tokens * heads * (3 * head_dim * element + 4);
}

// The buffer of all selections: page numbers (int32), a row for each block of queries, layer after layer. A
// chunk that has fewer pages before it than a row has columns keeps its rows dense.
struct SelectionLayout {
    int64_t rows_of_chunk = 0, rows_of_layer = 0, columns = 0;
    int64_t bytes(int64_t layers) const { return layers * rows_of_layer * columns * 4; }
    int64_t offset(int64_t layer, int64_t chunk) const {  // bytes
        return (layer * rows_of_layer + chunk * rows_of_chunk) * columns * 4;
    }
};
inline SelectionLayout selection_layout(const Plan& plan) {
    const Decisions& d = plan.decisions;
    const int64_t chunk = std::min(d.chunk.count(), plan.context.count()),
                  block = std::min(d.attention.block, chunk);
    const int64_t past_pages = (plan.chunks() - 1) * d.chunk.count() / d.page.count();
    return {ceil_div(chunk, block), ceil_div(plan.context.count(), block),
            std::min(d.attention.budget, past_pages)};
}

// Whether the host chooses a chunk's pages, by the votes of all, so that no more wait than may (where a chunk
// has no more pages before it than it selects there is no choice).
inline bool limits_waiting(const Plan& plan, int64_t past_pages) {
    const Attention& a = plan.decisions.attention;
    return a.sparse && a.waiting > 0 && past_pages > a.budget;
}

}  // namespace headroom
