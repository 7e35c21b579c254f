// CUDA kernels that write pages of K and V in fp8 (e4m3) and read them again (decoder/packed_pages.h has
// their CPU twins).
//
// Contract: as in pointwise.h. A page is `page` tokens of `heads` heads of `dim` values (a multiple of 16);
// the values of one head in one page share a scale (fp32), by which the codes are multiplied. Pages, codes
// and scales are dense; everything is aligned to 16 bytes. The same input gives the same bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/pointwise.h"

namespace headroom::engine::kernels {

using fp8 = uint8_t;  // the bits of one e4m3 value

struct PageShape {
    int64_t page, heads, dim;
};

// codes [ceil(tokens / page), page, heads, dim] and scales [.., heads] of values [tokens, heads, dim], whose
// tokens are `stride` values apart. Cost: values are read twice, the second time from the cache.
void pack_pages(const bf16* values, int64_t stride, fp8* codes, float* scales, int64_t tokens,
                const PageShape& shape, cudaStream_t stream);

// The values of `count` pages that lie one after the other, and to one after the other.
void unpack_pages(const fp8* codes, const float* scales, bf16* values, int64_t count, const PageShape& shape,
                  cudaStream_t stream);
// The same by addresses of codes, of the page's scales [heads] and of where the values go.
void unpack_pages_by_address(const int64_t* codes, const int64_t* scales, const int64_t* values,
                             int64_t count, const PageShape& shape, cudaStream_t stream);

}  // namespace headroom::engine::kernels
