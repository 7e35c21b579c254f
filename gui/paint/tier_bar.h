// The need of a tier against its budget as one bar: pieces by category, the budget as a line.
#pragma once

#include <QRectF>
#include <cstdint>
#include <vector>

#include "program/program.h"

namespace headroom::gui {

struct BarPiece {
    QRectF rect;
    Category category = Category::slack;
    int64_t bytes = 0;
};
struct TierBar {
    std::vector<BarPiece> pieces;  // from the left, in the order given
    double budget_x = 0;           // where the budget ends
    double need_x = 0;             // where the need ends
};
// `shares`: bytes by category. The larger of need and budget fills `area`; pieces narrower than `least_px`
// are left out of the picture (their place stays empty), never drawn wider than they are. Empty where both
// are 0.
TierBar tier_bar(const std::vector<std::pair<Category, int64_t>>& shares, int64_t need, int64_t budget,
                 const QRectF& area, double least_px = 0.5);

}  // namespace headroom::gui
