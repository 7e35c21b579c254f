// Pages of K, V, dK and dV on the device: which unit of the pool each page of each layer has.
//
// The pool is one buffer of the arena, `units` units of K and of V: the first half holds the K (or dK) of
// every unit, the second half the V, so that pages side by side are one matrix. A page takes `units_per_page`
// units in a row. Each page has a place it prefers: K and V by layer and page from the low end, gradients
// from the high end, so that a layer's pages are one run and one call attends many of them. The pool is
// smaller than both together, because K and V go while gradients come: where a preferred place is taken, the
// first free one serves.
#pragma once

#include <cstdint>
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
    PageTable(int64_t layers, int64_t pages, int64_t units, int64_t kv_units_per_page,
              int64_t gradient_units_per_page);

    // Gives page its units. Error: the pool has none left (the plan promised that this cannot happen).
    Result<void> take(PageKind kind, int64_t layer, int64_t page);
    void free(PageKind kind, int64_t layer, int64_t page);
    bool has(PageKind kind, int64_t layer, int64_t page) const;
    // First unit of a page that was taken.
    int64_t unit(PageKind kind, int64_t layer, int64_t page) const;
    // Pages [first, last), all taken, as runs of neighbours. Cost: O(pages).
    std::vector<PageRun> runs(PageKind kind, int64_t layer, int64_t first, int64_t last) const;
    int64_t live_units() const { return live_; }

private:
    struct Kind {
        int64_t per_page = 1;
        std::vector<int64_t> unit;  // by layer and page; -1: none
    };
    Kind& of(PageKind kind) { return kinds_[static_cast<size_t>(kind)]; }
    const Kind& of(PageKind kind) const { return kinds_[static_cast<size_t>(kind)]; }
    bool is_free(int64_t unit, int64_t count) const;
    void mark(int64_t unit, int64_t count, bool taken);

    int64_t layers_, pages_, units_, live_ = 0;
    std::vector<Kind> kinds_;
    std::vector<bool> taken_;  // by unit
    int64_t first_free_ = 0;   // no unit below it is free
};

}  // namespace headroom::engine
