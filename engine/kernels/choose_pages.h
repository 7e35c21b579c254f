// The last step of page selection: the pages with most votes of each block of queries.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::engine::kernels {

// votes [blocks, pages], not negative; where parts > 1, first made as the sum of partial [parts, blocks,
// pages], part after part.
struct BlockVotes {
    const float* partial;
    int64_t parts;
    float* votes;
    int64_t blocks, pages, budget, sink, local;  // budget below pages
};
// selection [blocks, budget]: the first `sink` and last `local` pages, then those with most votes (ties: the
// lower page), ascending. The bits of the budget-th best vote are found from the highest down; votes order as
// their bits do. Cost: 33 passes over a block's votes, which its thread block has in the L1 cache.
void choose_pages(const BlockVotes& votes, int32_t* selection, cudaStream_t stream);

}  // namespace headroom::engine::kernels
