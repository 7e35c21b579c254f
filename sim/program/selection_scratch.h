// What the selection of one chunk and layer works in: planner and engine count alike.
#pragma once

#include <algorithm>
#include <cstdint>

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

}  // namespace headroom
