#include "gui/paint/memory_list.h"

#include <algorithm>
#include <cmath>

namespace headroom::gui {

MemoryList list_of(const MemoryCurve& curve, const TimeAxis& axis, double columns_per_pixel) {
    MemoryList list;
    list.categories = curve.categories().size();
    const auto count = static_cast<int64_t>(std::ceil(axis.width * columns_per_pixel));
    // Columns share their borders, so that no instant falls between two.
    const auto border_ns = [&](int64_t column) {
        return std::min(axis.end_ns, axis.ns_at(axis.left + static_cast<double>(column) / columns_per_pixel));
    };
    size_t first = curve.instant_at(axis.begin_ns);
    for (int64_t column = 0; column < count; ++column) {
        const int64_t end_ns = border_ns(column + 1);
        size_t last = curve.instant_at(end_ns - 1);
        // Columns shorter than a nanosecond.
        if (first != MemoryCurve::kBefore && (last == MemoryCurve::kBefore || last < first)) last = first;
        const size_t fullest = curve.fullest(first, last);
        if (!list.columns.empty() && list.columns.back().instant == fullest) {
            list.columns.back().width += 1 / columns_per_pixel;
        } else {
            list.columns.push_back({axis.left + static_cast<double>(column) / columns_per_pixel,
                                    1 / columns_per_pixel, fullest, curve.total_bytes(fullest)});
            list.bytes.resize(list.bytes.size() + list.categories);
            curve.bytes_at(fullest, std::span(list.bytes).last(list.categories));
        }
        first = curve.instant_at(end_ns);
    }
    return list;
}

}  // namespace headroom::gui
