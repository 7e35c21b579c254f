// CUDA kernels that move pages, sum their gradients and average their keys (decoder/pages.h and selection.h
// have their CPU twins).
//
// Contract: as in pointwise.h; addresses and lists are device arrays. The same input gives the same bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/pointwise.h"

namespace headroom::engine::kernels {

// Copies `count` pieces of `bytes` each (a multiple of 16) from sources[i] to destinations[i], which are
// aligned to 16 and may be pinned host memory. `most_blocks`: thread blocks of 256 that run at once at most,
// so that others have the rest of the chip; 0: as many as fit. 132 keep 2 MiB of loads in flight, which a
// link of 64 GB/s and some microseconds needs a tenth of.
void copy_pages(const uint64_t* sources, const uint64_t* destinations, int64_t count, int64_t bytes,
                int64_t most_blocks, cudaStream_t stream);

// Copies a list of `bytes` from pinned host memory to the device; both aligned to 16, and the room of both a
// multiple of 16. A kernel of its own, so that it does not queue behind copies of pages.
void copy_list(const std::byte* from, std::byte* to, int64_t bytes, cudaStream_t stream);

// What was emitted for each of `count` pages, summed: emissions entries[begin[i] .. begin[i + 1]) of `values`
// values each (a multiple of 8), in that order, in fp32; written to destinations[i], or added to it unless
// fresh[i]. Page: bf16 or float, aligned to 16. Cost: each emission is read once, each page written once and,
// unless fresh, read once.
struct PageSums {
    const int32_t* begin;
    const int32_t* entries;
    const int64_t* destinations;
    const uint8_t* fresh;
    int64_t count;
};
template <class Page>
void sum_pages(const bf16* emissions, int64_t values, const PageSums& sums, cudaStream_t stream);

// Rows of `columns` values (a multiple of 8) += those of pages: page i has tokens[i] of them, one after the
// other from sources[i] on, and they are added to the rows from destinations[i] on, `stride` values apart. In
// fp32, rounded once. Page: bf16 or float. No row twice. Everything aligned to 16 bytes.
struct PageRows {
    const int64_t* sources;
    const int64_t* destinations;
    const int32_t* tokens;
    int64_t count, most_tokens;  // pages; the largest of tokens
};
template <class Page>
void add_page_rows(const PageRows& pages, int64_t columns, int64_t stride, cudaStream_t stream);

// out [ceil(tokens / page), columns] = means over each page's tokens; rows of keys are `stride` values apart.
void page_means(const bf16* keys, bf16* out, int64_t tokens, int64_t columns, int64_t stride, int64_t page,
                cudaStream_t stream);

}  // namespace headroom::engine::kernels
