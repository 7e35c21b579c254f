#include "gui/view/lane_paint.h"

#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "gui/model/text.h"

namespace headroom::gui {

Stretch::Stretch(const TimeAxis& list, const TimeAxis& now)
    : scale(list.ns_per_pixel() / now.ns_per_pixel()), shift(now.x_of(list.begin_ns) - list.left * scale) {}

QRectF Stretch::rect(const Extent& e, const QRect& lane) const {
    const double left = std::max<double>(lane.left(), x(e.x));
    const double right = std::min<double>(lane.right() + 1, x(e.x + e.width));
    return {left, static_cast<double>(lane.top()), right < left ? 0.0 : std::max(1.0, right - left),
            static_cast<double>(lane.height())};
}

void paint_slice(QPainter& painter, const Slice& slice, QRectF rect, const QRect& lane,
                 const Palette& palette, const std::function<QString()>& words) {
    constexpr double kSeparated_px = 6;  // wider ones leave a pixel to the next
    constexpr double kLabelled_px = 28;  // narrower ones say nothing
    constexpr int kMargin_px = 4;
    constexpr int kFewLetters = 6;  // of a name say nothing
    if (rect.width() >= kSeparated_px && rect.right() <= lane.right()) rect.setWidth(rect.width() - 1);
    const QColor colour = palette.of(slice.kind);
    painter.fillRect(rect, colour);
    const QFontMetrics metrics = painter.fontMetrics();
    if (rect.width() < kLabelled_px || rect.height() + 2 < metrics.height()) return;
    const double room = rect.width() - 2 * kMargin_px;
    QString text = words();
    if (metrics.horizontalAdvance(text) > room)
        text = metrics.elidedText(label_of(slice.kind), Qt::ElideRight, static_cast<int>(room));
    if (text.endsWith(QChar(0x2026)) && text.size() <= kFewLetters) return;
    painter.setPen(Palette::text_on(colour));
    painter.drawText(rect.adjusted(kMargin_px, -1, -kMargin_px, 1),
                     Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, text);
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
