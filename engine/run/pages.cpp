#include "run/pages.h"

#include <string>

namespace headroom::engine {

PageTable::PageTable(int64_t layers, int64_t pages, int64_t units, int64_t kv_units_per_page,
                     int64_t gradient_units_per_page)
    : pages_(pages), units_(units), ends_(2) {
    end(PageKind::kv).per_page = kv_units_per_page;
    end(PageKind::gradient).per_page = gradient_units_per_page;
    for (End& e : ends_) e.unit.assign(static_cast<size_t>(layers * pages), -1);
}

Result<void> PageTable::take(PageKind kind, int64_t layer, int64_t page) {
    End& e = end(kind);
    int64_t place = e.reach;
    if (!e.free.empty()) {
        place = *e.free.begin();
        e.free.erase(e.free.begin());
    } else {
        const End& other = end(kind == PageKind::kv ? PageKind::gradient : PageKind::kv);
        if ((e.reach + 1) * e.per_page + other.reach * other.per_page > units_) {
            return fail("page pool", std::to_string(units_) + " units, all in use",
                        "what the plan's program takes at once", Fault::run_failed);
        }
        ++e.reach;
    }
    const int64_t unit = kind == PageKind::kv ? place * e.per_page : units_ - (place + 1) * e.per_page;
    e.unit[static_cast<size_t>(layer * pages_ + page)] = unit;
    live_ += e.per_page;
    return {};
}

void PageTable::free(PageKind kind, int64_t layer, int64_t page) {
    End& e = end(kind);
    int64_t& unit = e.unit[static_cast<size_t>(layer * pages_ + page)];
    const int64_t place = kind == PageKind::kv ? unit / e.per_page : (units_ - unit) / e.per_page - 1;
    unit = -1;
    live_ -= e.per_page;
    e.free.insert(place);
    // What is free at the very end belongs to both ends again.
    while (e.reach > 0 && e.free.erase(e.reach - 1) > 0) --e.reach;
}

bool PageTable::has(PageKind kind, int64_t layer, int64_t page) const {
    return end(kind).unit[static_cast<size_t>(layer * pages_ + page)] >= 0;
}

int64_t PageTable::unit(PageKind kind, int64_t layer, int64_t page) const {
    return end(kind).unit[static_cast<size_t>(layer * pages_ + page)];
}

std::vector<PageRun> PageTable::runs(PageKind kind, int64_t layer, int64_t first, int64_t last) const {
    std::vector<PageRun> result;
    const int64_t per_page = end(kind).per_page;
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
