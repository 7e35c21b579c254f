#include "run/pages.h"

#include <algorithm>
#include <string>

namespace headroom::engine {

PageTable::PageTable(int64_t layers, int64_t pages, int64_t units, int64_t kv_units_per_page,
                     int64_t gradient_units_per_page)
    : layers_(layers), pages_(pages), units_(units), kinds_(2), taken_(static_cast<size_t>(units), false) {
    of(PageKind::kv).per_page = kv_units_per_page;
    of(PageKind::gradient).per_page = gradient_units_per_page;
    for (Kind& k : kinds_) k.unit.assign(static_cast<size_t>(layers * pages), -1);
}

bool PageTable::is_free(int64_t unit, int64_t count) const {
    if (unit < 0 || unit + count > units_) return false;
    const auto first = taken_.begin() + unit;
    return std::none_of(first, first + count, [](bool taken) { return taken; });
}

void PageTable::mark(int64_t unit, int64_t count, bool taken) {
    std::fill_n(taken_.begin() + unit, count, taken);
    live_ += taken ? count : -count;
    if (!taken) first_free_ = std::min(first_free_, unit);
    while (first_free_ < units_ && taken_[static_cast<size_t>(first_free_)]) ++first_free_;
}

Result<void> PageTable::take(PageKind kind, int64_t layer, int64_t page) {
    Kind& k = of(kind);
    int64_t unit = (layer * pages_ + page) * k.per_page;
    if (kind == PageKind::gradient) unit += units_ - layers_ * pages_ * k.per_page;
    if (!is_free(unit, k.per_page)) {
        for (unit = first_free_; unit < units_ && !is_free(unit, k.per_page);) ++unit;
        if (unit >= units_) {
            return fail("page pool", std::to_string(units_) + " units, " + std::to_string(live_) + " in use",
                        "what the plan's program takes at once", Fault::run_failed);
        }
    }
    mark(unit, k.per_page, true);
    k.unit[static_cast<size_t>(layer * pages_ + page)] = unit;
    return {};
}

void PageTable::free(PageKind kind, int64_t layer, int64_t page) {
    int64_t& unit = of(kind).unit[static_cast<size_t>(layer * pages_ + page)];
    mark(unit, of(kind).per_page, false);
    unit = -1;
}

bool PageTable::has(PageKind kind, int64_t layer, int64_t page) const {
    return unit(kind, layer, page) >= 0;
}

int64_t PageTable::unit(PageKind kind, int64_t layer, int64_t page) const {
    return of(kind).unit[static_cast<size_t>(layer * pages_ + page)];
}

std::vector<PageRun> PageTable::runs(PageKind kind, int64_t layer, int64_t first, int64_t last) const {
    std::vector<PageRun> result;
    const int64_t per_page = of(kind).per_page;
    for (int64_t p = first; p < last; ++p) {
        const int64_t u = unit(kind, layer, p);
        if (!result.empty() && result.back().unit + result.back().count * per_page == u) {
            ++result.back().count;
        } else {
            result.push_back({p, 1, u});
        }
    }
    return result;
}

}  // namespace headroom::engine
