// Pages that lie anywhere: copied by lists of addresses, and the gradients that query blocks emit for them,
// summed by page.
//
// Lists are tensors on the device that does the work (CPU lists: on the CPU); an address is an int64. Pages
// of K, V, dK or dV: [page, g, d], dense.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::engine {

// Copies `bytes` of a list from host memory, pinned where `device` is a GPU, to that device. Both are aligned
// to 16 and have room for a multiple of 16 bytes. For lists that many thread blocks read: each of them would
// go over the link for an entry.
void copy_list(const std::byte* from, std::byte* to, int64_t bytes, at::Device device);

// Copies `bytes` (a multiple of 16) from sources[i] to destinations[i] [N]; aligned to 16, and no destination
// twice. Lists on a GPU: by a kernel, either end device or pinned host memory; `most_blocks` as in
// kernels/pages.h. Throws c10::Error on lists of another type or length.
void copy_pages(const at::Tensor& sources, const at::Tensor& destinations, int64_t bytes,
                int64_t most_blocks = 0);

// The same of values: `bytes` of type `from` each, rounded or widened to `to`. On the CPU alone.
void convert_pages(const at::Tensor& sources, const at::Tensor& destinations, int64_t bytes,
                   at::ScalarType from, at::ScalarType to);

// Which emissions go to which page: those of `pages[i]` are entries[begin[i] .. begin[i + 1]), ascending.
struct EmissionsByPage {
    std::vector<int32_t> pages;    // distinct, ascending
    std::vector<int32_t> begin;    // one more than pages
    std::vector<int32_t> entries;  // numbers of emissions: block * K + place in the block's selection
};
// Of a selection [blocks, K] int32 on the CPU. Cost: O(n log n) of its n entries.
EmissionsByPage emissions_by_page(const at::Tensor& selection);

// One list for each of D pages to sum for.
struct PageSums {
    at::Tensor begin;         // [D + 1] int32
    at::Tensor entries;       // int32
    at::Tensor destinations;  // [D] int64: addresses of the pages; none twice
    at::Tensor fresh;         // [D] uint8: the page is overwritten; else added to
};
// Pages of `type` at the destinations (+)= sums of emissions [N, page, g, d] over their lists, in list order
// and in the type of sums, rounded once. One writer a page: the same input gives the same bits. On a GPU
// emissions are bf16, pages bf16 or fp32; on the CPU any floating types. Throws c10::Error on others.
void sum_pages(const at::Tensor& emissions, const PageSums& sums, at::ScalarType type);

// Pages to add: page i has tokens[i] rows.
struct PageRows {
    at::Tensor sources;  // [N] int64: addresses of pages
    at::Tensor
        destinations;   // [N] int64: addresses of the first value of the first row that each is added to
    at::Tensor tokens;  // [N] int32
};
// Rows of `columns` values of `row_type`, `stride` values apart, += those of pages of `page_type`, each
// rounded once. No row twice; no page has more than `most_tokens`. On a GPU rows are bf16, pages bf16 or
// fp32, columns a multiple of 8.
void add_page_rows(const PageRows& pages, at::ScalarType page_type, at::ScalarType row_type, int64_t columns,
                   int64_t stride, int64_t most_tokens);

}  // namespace headroom::engine
