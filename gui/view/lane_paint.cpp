#include "gui/view/lane_paint.h"

#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace headroom::gui {

Stretch::Stretch(const TimeAxis& list, const TimeAxis& now)
    : scale(list.ns_per_pixel() / now.ns_per_pixel()), shift(now.x_of(list.begin_ns) - list.left * scale) {}

QRectF Stretch::rect(const Extent& e, const QRect& lane) const {
    const double left = std::max<double>(lane.left(), x(e.x));
    const double right = std::min<double>(lane.right() + 1, x(e.x + e.width));
    return {left, static_cast<double>(lane.top()), right < left ? 0.0 : std::max(1.0, right - left),
            static_cast<double>(lane.height())};
}

// Stacked in one order of kinds everywhere, so that bins beside each other show how shares change. One colour
// at a time: a painter that keeps its brush fills several times as fast.
void paint_bins(QPainter& painter, const LaneList& list, const Stretch& stretch, const QRect& lane,
                const Palette& palette) {
    std::array<std::vector<QRectF>, kOpKinds> rects;
    for (const Bin& bin : list.bins) {
        const QRectF rect = stretch.rect(bin.extent, lane);
        double share = 0;
        double lower = rect.bottom();
        for (const BinPart& part : list.parts_of(bin)) {
            share += part.share;
            const double upper = std::round(rect.bottom() - std::min(1.0, share) * rect.height());
            if (upper >= lower) continue;
            rects[static_cast<size_t>(part.kind)].emplace_back(rect.left(), upper, rect.width(),
                                                               lower - upper);
            lower = upper;
        }
        // However little: something ran here.
        if (lower == rect.bottom())
            rects[static_cast<size_t>(bin.kind)].emplace_back(rect.left(), lower - 1, rect.width(), 1);
    }
    painter.setPen(Qt::NoPen);
    for (size_t kind = 0; kind < kOpKinds; ++kind) {
        if (rects[kind].empty()) continue;
        painter.setBrush(palette.of(static_cast<OpKind>(kind)));
        painter.drawRects(rects[kind].data(), static_cast<int>(rects[kind].size()));
    }
}

}  // namespace headroom::gui
