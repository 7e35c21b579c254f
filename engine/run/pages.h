// Pages of K, V, dK and dV in one tier: which units of the pool each page of each layer has.
//
// The pool is one buffer of the arena, so many units of K and of V: the first half holds the K (or dK) of
// every unit, the second half the V, so that pages side by side are one matrix. A page of the kind with the
// smaller dtype takes one unit, a page of the other several (program/page_units.h), each with an equal share
// of its tokens, wherever they are. Each unit has a place that it prefers: K and V by layer and page from the
// low end, gradients from the high end, so that a layer's pages are one run: one call attends many of them,
// one copy moves them. The pool is smaller than both together, because K and V go while gradients come: where
// a preferred place is taken, the first free one serves.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/free_units.h"

namespace headroom::engine {

enum class PageKind : uint8_t { kv, gradient };

// Units [first, first + count) of a layer, counted through its pages, that lie side by side from `unit` on.
struct PageRun {
    int64_t first = 0, count = 0, unit = 0;
};

class PageTable {
public:
    using LivesHere = std::function<bool(PageKind kind, int64_t layer, int64_t page)>;
    using Parts = std::array<int64_t, 2>;  // units of one page, by kind
    PageTable() = default;
    // `pages`: that a layer has at most. `lives_here`: the pages that have their home in this tier (absent:
    // all): they share the places evenly. `name`: of the pool, for errors.
    PageTable(int64_t layers, int64_t pages, int64_t units, const LivesHere& lives_here = {},
              std::string name = "page pool", const Parts& parts = {1, 1});

    // Gives the page its units. Error: the pool has too few left (the plan promised that this cannot happen);
    // then it takes none. Cost: O(log units).
    Result<void> take(PageKind kind, int64_t layer, int64_t page);
    void free(PageKind kind, int64_t layer, int64_t page);
    bool has(PageKind kind, int64_t layer, int64_t page) const;
    int64_t parts(PageKind kind) const { return parts_[static_cast<size_t>(kind)]; }
    // That holds one part of a page that was taken; else -1.
    int64_t unit(PageKind kind, int64_t layer, int64_t page, int64_t part = 0) const;
    // Those of pages [first, last) that are taken, as runs of neighbours. Cost: O(units).
    std::vector<PageRun> runs(PageKind kind, int64_t layer, int64_t first, int64_t last) const;
    int64_t live_units() const { return live_; }

private:
    std::vector<int64_t>& of(PageKind kind) { return unit_[static_cast<size_t>(kind)]; }
    const std::vector<int64_t>& of(PageKind kind) const { return unit_[static_cast<size_t>(kind)]; }
    size_t at(PageKind kind, int64_t layer, int64_t page) const {  // of its first part
        return static_cast<size_t>((layer * pages_ + page) * parts(kind));
    }

    std::string name_;
    int64_t pages_ = 0, live_ = 0;
    Parts parts_{1, 1};
    std::array<std::vector<int64_t>, 2> unit_;       // by kind; by layer, page and part; -1: none
    std::array<std::vector<int64_t>, 2> preferred_;  // by kind; by layer, page and part
    int64_t units_ = 0;
    FreeUnits free_;
};

}  // namespace headroom::engine
