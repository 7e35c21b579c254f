// Which pages of the past a block of queries attends (method.md, "Sparse attention"; arXiv 2602.02108).
//
// Shapes: T queries, h query heads, g KV heads, d head size, P past pages. Sums are in the type of sums
// (fp32; fp64 beside fp64).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "plan/waiting_pages.h"

namespace headroom::engine {

// out [ceil(T / page), g, d] = mean of the rotated keys k [T, g, d] of each page; a ragged last page: of
// those it has. Rows of k may lie apart.
void page_means(const at::Tensor& k, int64_t page, at::Tensor out);

struct PageChoice {
    int64_t block = 0;            // queries that select together
    int64_t budget = 0;           // pages, sink and local among them
    int64_t sink = 0, local = 0;  // first and last past pages that every block selects
};

// Bytes of select_pages' scratch (program/selection_scratch.h).
int64_t select_scratch_bytes(int64_t tokens, int64_t groups, int64_t pages, int64_t block);

// selection [ceil(T / block), min(budget, P)] int32: for each block its pages, ascending. Votes of a page:
// the queries of a KV group are summed (and rounded to the type of q), scaled by 1 / sqrt(d), and score all
// page vectors; their softmax over the pages is summed over the block's queries and the KV heads. Sink and
// local pages are in, then the pages with most votes (ties: the lower page). Where P <= budget, all pages. q
// [T, h, d] (rows may lie apart), means [P, g, d]. scratch: uint8, select_scratch_bytes(); where there is a
// choice it begins with the votes afterwards, [blocks, P] fp32. Nothing waits for the device. On a GPU in
// bf16 with d a multiple of 16 up to 256: kernels/selection.h, nothing allocated; else ATen, on either
// device. Throws c10::Error on sizes that do not fit together or sink + local > budget.
void select_pages(const at::Tensor& q, const at::Tensor& means, const PageChoice& choice, at::Tensor scratch,
                  at::Tensor selection);

// For one block by one: from votes [blocks, P] fp32, not negative, on the host to its pages [blocks, budget]
// int32, ascending, like select_pages, but those with most votes among the pages that have room
// (WaitingPages, entered for this chunk and layer; what is chosen is selected there). Where too few have:
// of the others those with most votes. Needs budget < P. Cost: O(P) a block, and of select().
void choose_with_room(const at::Tensor& votes, const PageChoice& choice, WaitingPages& waiting,
                      at::Tensor selection);

}  // namespace headroom::engine
