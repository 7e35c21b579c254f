#include "run/pages.h"

#include <algorithm>
#include <string>

namespace headroom::engine {

PageTable::PageTable(int64_t layers, int64_t pages, int64_t units)
    : layers_(layers), pages_(pages), taken_(static_cast<size_t>(units), false) {
    for (std::vector<int64_t>& unit : unit_) unit.assign(static_cast<size_t>(layers * pages), -1);
}

Result<void> PageTable::take(PageKind kind, int64_t layer, int64_t page) {
    const int64_t units = static_cast<int64_t>(taken_.size());
    int64_t unit = layer * pages_ + page;
    if (kind == PageKind::gradient) unit += units - layers_ * pages_;
    if (unit < 0 || unit >= units || taken_[static_cast<size_t>(unit)]) {
        unit = std::find(taken_.begin(), taken_.end(), false) - taken_.begin();
        if (unit == units) {
            return fail("page pool", std::to_string(units) + " units, all in use",
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
        if (!result.empty() && result.back().unit + result.back().count == u) {
            ++result.back().count;
        } else {
            result.push_back({p, 1, u});
        }
    }
    return result;
}

}  // namespace headroom::engine
