#include "run/pages.h"

#include <algorithm>
#include <string>

namespace headroom::engine {

PageTable::PageTable(int64_t layers, int64_t pages, int64_t units, const LivesHere& lives_here,
                     std::string name)
    : name_(std::move(name)), pages_(pages), taken_(static_cast<size_t>(units), false) {
    for (const PageKind kind : {PageKind::kv, PageKind::gradient}) {
        const auto k = static_cast<size_t>(kind);
        unit_[k].assign(static_cast<size_t>(layers * pages), -1);
        preferred_[k].assign(static_cast<size_t>(layers * pages), -1);
        int64_t count = 0;
        for (int64_t l = 0; l < layers; ++l) {
            for (int64_t p = 0; p < pages; ++p) {
                if (!lives_here || lives_here(kind, l, p)) preferred_[k][at(l, p)] = count++;
            }
        }
        if (kind == PageKind::kv) continue;
        for (int64_t& unit : preferred_[k]) {
            if (unit >= 0) unit += units - count;
        }
    }
}

Result<void> PageTable::take(PageKind kind, int64_t layer, int64_t page) {
    const auto units = static_cast<int64_t>(taken_.size());
    int64_t unit = preferred_[static_cast<size_t>(kind)][at(layer, page)];
    if (unit < 0 || unit >= units || taken_[static_cast<size_t>(unit)]) {
        while (first_free_ < taken_.size() && taken_[first_free_]) ++first_free_;
        unit = static_cast<int64_t>(first_free_);
        if (unit == units) {
            return fail(name_, std::to_string(units) + " units, all in use",
                        "what the plan's program takes at once", Fault::run_failed);
        }
    }
    taken_[static_cast<size_t>(unit)] = true;
    ++live_;
    of(kind)[at(layer, page)] = unit;
    return {};
}

void PageTable::free(PageKind kind, int64_t layer, int64_t page) {
    int64_t& unit = of(kind)[at(layer, page)];
    taken_[static_cast<size_t>(unit)] = false;
    first_free_ = std::min(first_free_, static_cast<size_t>(unit));
    --live_;
    unit = -1;
}

bool PageTable::has(PageKind kind, int64_t layer, int64_t page) const {
    return unit(kind, layer, page) >= 0;
}

int64_t PageTable::unit(PageKind kind, int64_t layer, int64_t page) const {
    return of(kind)[at(layer, page)];
}

std::vector<PageRun> PageTable::runs(PageKind kind, int64_t layer, int64_t first, int64_t last) const {
    std::vector<PageRun> result;
    for (int64_t p = first; p < last; ++p) {
        const int64_t u = unit(kind, layer, p);
        if (u < 0) continue;
        const bool neighbour = !result.empty() && result.back().first + result.back().count == p &&
                               result.back().unit + result.back().count == u;
        if (neighbour) {
            ++result.back().count;
        } else {
            result.push_back({p, 1, u});
        }
    }
    return result;
}

}  // namespace headroom::engine
