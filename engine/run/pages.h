// Pages of K, V, dK and dV in one tier: which unit of the pool each page of each layer has.
//
// The pool is one buffer of the arena, `units` units of K and of V: the first half holds the K (or dK) of
// every unit, the second half the V, so that pages side by side are one matrix. A page of either kind takes
// one unit (check_supported: K, V and their gradients have one size). Each page has a place it prefers: K and
// V by layer and page from the low end, gradients from the high end, so that a layer's pages are one run: one
// call attends many of them, one copy moves them. The pool is smaller than both together, because K and V go
// while gradients come: where a preferred place is taken, the first free one serves.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace headroom::engine {

enum class PageKind : uint8_t { kv, gradient };

// Pages [first, first + count) of a layer whose units lie side by side from `unit` on.
struct PageRun {
    int64_t first = 0, count = 0, unit = 0;
};

class PageTable {
public:
    using LivesHere = std::function<bool(PageKind kind, int64_t layer, int64_t page)>;
    PageTable() = default;
    // `pages`: that a layer has at most. `lives_here`: the pages that have their home in this tier (absent:
    // all): they share the places evenly. `name`: of the pool, for errors.
    PageTable(int64_t layers, int64_t pages, int64_t units, const LivesHere& lives_here = {},
              std::string name = "page pool");

    // Gives the page a unit. Error: the pool has none left (the plan promised that this cannot happen). Cost:
    // O(1) where the preferred place is free.
    Result<void> take(PageKind kind, int64_t layer, int64_t page);
    void free(PageKind kind, int64_t layer, int64_t page);
    bool has(PageKind kind, int64_t layer, int64_t page) const;
    // Of a page that was taken; else -1.
    int64_t unit(PageKind kind, int64_t layer, int64_t page) const;
    // Those of pages [first, last) that are taken, as runs of neighbours. Cost: O(pages).
    std::vector<PageRun> runs(PageKind kind, int64_t layer, int64_t first, int64_t last) const;
    int64_t live_units() const { return live_; }

private:
    std::vector<int64_t>& of(PageKind kind) { return unit_[static_cast<size_t>(kind)]; }
    const std::vector<int64_t>& of(PageKind kind) const { return unit_[static_cast<size_t>(kind)]; }
    size_t at(int64_t layer, int64_t page) const { return static_cast<size_t>(layer * pages_ + page); }

    std::string name_;
    int64_t pages_ = 0, live_ = 0;
    size_t first_free_ = 0;                          // no unit before it is free
    std::array<std::vector<int64_t>, 2> unit_;       // by kind; by layer and page; -1: none
    std::array<std::vector<int64_t>, 2> preferred_;  // by kind; by layer and page
    std::vector<bool> taken_;                        // by unit
};

}  // namespace headroom::engine
