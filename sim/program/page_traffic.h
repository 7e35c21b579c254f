// Which pages move in sparse attention: selections, residency and page cache turned into counts, chunk by
// chunk, for one layer whose pages are not all on the device.
//
// Rules:
//  - Pages of the first `device_chunks` chunks are on the device, of the last `disk_chunks` on disk, the rest
//  on the
//    host; for K and V and for dK and dV separately.
//  - The cache is LRU over pages (page_cache.h): a chunk finds what is there before anything is given up. In
//  the fill
//    pass a slot holds K and V of a page, and a chunk's own pages enter it after those that it selected; in
//    the gradient pass it starts empty and a slot holds K, V, dK and dV.
//  - A gradient page is first touched by the last chunk that selects it: taken, not loaded. It is written
//  back after
//    its use, or when it leaves the cache. At its own chunk it is read once more and freed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "plan/plan.h"
#include "plan/selection.h"
#include "program/program.h"
#include "program/selected.h"

namespace headroom {

// Pages of one chunk in one layer.
struct PageMoves {
    // Fill pass, and forward of the gradient pass where attention is computed again: K and V.
    uint32_t selected = 0;
    uint32_t fill_host = 0, fill_disk = 0, fill_hit = 0, fill_evicted = 0;
    uint32_t again_host = 0, again_disk = 0;  // forward in the gradient pass (no cache: it holds gradients)
    // Where sums of dK and dV exist from the start: those of the selected pages that are not on the device.
    uint32_t fill_grad_host = 0, fill_grad_disk = 0, fill_grad_runs = 0;
    // Backward.
    uint32_t back_host = 0, back_disk = 0, back_hit = 0, back_evicted = 0;  // K and V
    // Of the K and V that are loaded from the host, runs of neighbours: a chunk's pages of a layer lie side
    // by side there, and a run travels as one piece.
    uint32_t fill_runs = 0, again_runs = 0, back_runs = 0;
    // The same of dK and dV, here and in fill_grad_runs and own_runs, taken to lie as their pages are
    // numbered: places are given in that order.
    uint32_t grad_load_runs = 0, grad_store_runs = 0;
    uint32_t grad_load_host = 0, grad_load_disk = 0;
    uint32_t first_touched = 0;  // of them on the device, host or disk:
    uint32_t taken_device = 0, taken_host = 0, taken_disk = 0;
    uint32_t grad_store_host = 0, grad_store_disk = 0;
    // Own pages of dK and dV: where the sums are read from (nowhere if no later chunk touched them), all
    // freed.
    uint32_t own_host = 0, own_disk = 0, own_touched = 0, own_runs = 0;
    uint32_t freed_device = 0, freed_host = 0, freed_disk = 0;
};

struct CachePages {
    int64_t fill = 0, gradient = 0;  // capacity for one layer
    int64_t bytes = 0;               // of one layer's share, a multiple of kAlignment
};

// What the plan's page cache holds of one layer: those that have pages off the device share it evenly.
CachePages cache_pages(const Plan& plan);
// Whether such a layer has a share, and the how manieth it is; else -1.
int64_t cache_share(const Plan& plan, int64_t layer);
// Whether a page may enter the cache of the gradient pass: its K and V or its dK and dV are off the device in
// layers that are not there whole.
bool cacheable(const Plan& plan, int64_t page);

// Told of every page that a chunk finds in the cache, in ascending order: chunks of the fill pass from the
// first, of the gradient pass from the last.
using FoundInCache = std::function<void(Pass pass, int64_t chunk, uint32_t page)>;
// Rows by chunk. Cost: O(selected pages).
std::vector<PageMoves> page_moves(const Plan& plan, const Selections& selections, CachePages cache,
                                  const FoundInCache& found = {});

// The moves of every selection of a set, worked out once for each cache size and residency asked for and kept
// in the set (plans that the search compares share them). Thread-safe.
std::shared_ptr<const std::vector<std::vector<PageMoves>>> all_moves(const Plan& plan,
                                                                     const SelectionSet& selections,
                                                                     CachePages cache);

}  // namespace headroom
