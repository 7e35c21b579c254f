// Pages of K and V in fp8 (e4m3, as Micikevicius et al., arXiv 2209.05433): the values of one KV head in one
// page share a scale, its largest magnitude over 448. Written once, when a page is full; unpacked where
// attention reads it.
//
// Shapes: T tokens, P pages of `page` tokens, g KV heads, d head size. Codes [P, page, g, d] kFloat8_e4m3fn,
// scales [P, g] fp32; value = code * scale, rounded to the type that is read. A value loses at most 2^-4 of
// itself, or 2^-10 of a scale where it is smaller than 2^-6 of one.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace headroom::engine {

// codes, scales of x [T, g, d]; rows of x may lie apart. A ragged last page: of the tokens it has, the rest
// of its codes stay as they are. On a GPU x is bf16, d a multiple of 16, and nothing is allocated. Throws
// c10::Error on sizes that do not fit together.
void pack_pages(const at::Tensor& x, at::Tensor codes, at::Tensor scales);

// out [P, page, g, d], dense, of any floating type (on a GPU bf16, d a multiple of 16).
void unpack_pages(const at::Tensor& codes, const at::Tensor& scales, at::Tensor out);

// Pages that lie anywhere: lists of addresses (int64 [N], on the device that does the work) of codes, of the
// page's scales [g] and of where its values go.
struct PackedPages {
    at::Tensor codes, scales, values;
};
// Pages of `sizes` {page, g, d}, unpacked as `type`. Limits as above.
void unpack_pages(const PackedPages& pages, at::IntArrayRef sizes, at::ScalarType type);

}  // namespace headroom::engine
