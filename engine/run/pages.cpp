#include "run/pages.h"

#include <algorithm>
#include <string>

namespace headroom::engine {

PageTable::PageTable(int64_t layers, int64_t pages, int64_t units, const LivesHere& lives_here,
                     std::string name, const Parts& parts)
    : name_(std::move(name)), pages_(pages), parts_(parts), units_(units), free_(units) {
    for (const PageKind kind : {PageKind::kv, PageKind::gradient}) {
        const auto k = static_cast<size_t>(kind);
        const auto size = static_cast<size_t>(layers * pages * parts_[k]);
        unit_[k].assign(size, -1);
        preferred_[k].assign(size, -1);
        int64_t count = 0;
        for (int64_t l = 0; l < layers; ++l) {
            for (int64_t p = 0; p < pages; ++p) {
                if (lives_here && !lives_here(kind, l, p)) continue;
                for (int64_t part = 0; part < parts_[k]; ++part)
                    preferred_[k][at(kind, l, p) + static_cast<size_t>(part)] = count++;
            }
        }
        if (kind == PageKind::kv) continue;
        for (int64_t& unit : preferred_[k]) {
            if (unit >= 0) unit += units - count;
        }
    }
}

Result<void> PageTable::take(PageKind kind, int64_t layer, int64_t page) {
    if (live_ + parts(kind) > units_) {
        return fail(name_,
                    std::to_string(units_) + " units, all but " + std::to_string(units_ - live_) + " in use",
                    "what the plan's program takes at once, with selection.spread of its scenario beyond "
                    "what was drawn; plan.attention.waiting, with one chunk in flight, limits it",
                    Fault::run_failed);
    }
    const size_t first = at(kind, layer, page);
    for (size_t i = first; i < first + static_cast<size_t>(parts(kind)); ++i) {
        int64_t unit = preferred_[static_cast<size_t>(kind)][i];
        if (unit < 0 || unit >= units_ || !free_.holds(unit)) unit = free_.first();
        free_.erase(unit);
        ++live_;
        of(kind)[i] = unit;
    }
    return {};
}

void PageTable::free(PageKind kind, int64_t layer, int64_t page) {
    const size_t first = at(kind, layer, page);
    for (size_t i = first; i < first + static_cast<size_t>(parts(kind)); ++i) {
        int64_t& unit = of(kind)[i];
        free_.insert(unit);
        --live_;
        unit = -1;
    }
}

bool PageTable::has(PageKind kind, int64_t layer, int64_t page) const {
    return unit(kind, layer, page) >= 0;
}

int64_t PageTable::unit(PageKind kind, int64_t layer, int64_t page, int64_t part) const {
    return of(kind)[at(kind, layer, page) + static_cast<size_t>(part)];
}

std::vector<PageRun> PageTable::runs(PageKind kind, int64_t layer, int64_t first, int64_t last) const {
    std::vector<PageRun> result;
    for (int64_t i = first * parts(kind); i < last * parts(kind); ++i) {
        const int64_t u = unit(kind, layer, i / parts(kind), i % parts(kind));
        if (u < 0) continue;
        const bool neighbour = !result.empty() && result.back().first + result.back().count == i &&
                               result.back().unit + result.back().count == u;
        if (neighbour) {
            ++result.back().count;
        } else {
            result.push_back({i, 1, u});
        }
    }
    return result;
}

}  // namespace headroom::engine
