#include "gui/paint/tier_bar.h"

#include <algorithm>

namespace headroom::gui {

TierBar tier_bar(const std::vector<std::pair<Category, int64_t>>& shares, int64_t need, int64_t budget,
                 const QRectF& area, double least_px) {
    TierBar bar;
    const int64_t most = std::max(need, budget);
    if (most <= 0) return bar;
    const auto x_of = [&](int64_t bytes) {
        return area.left() + area.width() * static_cast<double>(bytes) / static_cast<double>(most);
    };
    int64_t at = 0;
    for (const auto& [category, bytes] : shares) {
        const QRectF rect(QPointF(x_of(at), area.top()), QPointF(x_of(at + bytes), area.bottom()));
        at += bytes;
        if (rect.width() >= least_px) bar.pieces.push_back({rect, category, bytes});
    }
    bar.budget_x = x_of(budget);
    bar.need_x = x_of(need);
    return bar;
}

}  // namespace headroom::gui
