#include "gui/paint/curve_style.h"

#include <QPainter>
#include <array>
#include <cmath>
#include <numbers>

namespace headroom::gui {
namespace {

// After Okabe and Ito, who made them for those who see red and green alike; lighter on a dark ground.
constexpr std::array<QRgb, 6> kLight{0xff0072b2, 0xffd55e00, 0xff00805a, 0xffb0508c, 0xff8a6d00, 0xff1f2833};
constexpr std::array<QRgb, 6> kDark{0xff56b4e9, 0xffff9a52, 0xff3fcf9f, 0xffe8a2cb, 0xffe6cf4a, 0xffe8ecf2};
constexpr std::array<Qt::PenStyle, 6> kDashes{Qt::SolidLine, Qt::DashLine,       Qt::DashDotLine,
                                              Qt::DotLine,   Qt::DashDotDotLine, Qt::SolidLine};

QPainterPath polygon(const QPointF& at, double radius, int corners, double turn, double inner = 0) {
    QPainterPath path;
    const int points = inner > 0 ? 2 * corners : corners;
    for (int i = 0; i < points; ++i) {
        const double r = inner > 0 && i % 2 == 1 ? radius * inner : radius;
        const double angle = turn + 2 * std::numbers::pi * i / points;
        const QPointF point = at + QPointF(r * std::sin(angle), -r * std::cos(angle));
        if (i == 0)
            path.moveTo(point);
        else
            path.lineTo(point);
    }
    path.closeSubpath();
    return path;
}

}  // namespace

CurveStyle curve_style(size_t i, const Palette& palette) {
    const size_t k = i % kLight.size();
    return {QColor(palette.dark ? kDark[k] : kLight[k]), static_cast<int>(k), kDashes[k]};
}

QPainterPath marker_path(int marker, const QPointF& at, double size) {
    const double r = size / 2;
    QPainterPath path;
    switch (marker % 6) {
        case 0:
            path.addEllipse(at, r, r);
            return path;
        case 1:
            path.addRect(QRectF(at - QPointF(r * 0.85, r * 0.85), QSizeF(r * 1.7, r * 1.7)));
            return path;
        case 2:
            return polygon(at, r * 1.2, 3, 0);
        case 3:
            return polygon(at, r * 1.2, 4, 0);
        case 4:
            return polygon(at, r * 1.3, 5, 0, 0.5);
        default:
            return polygon(at, r * 1.2, 3, std::numbers::pi);
    }
}

void paint_marker(QPainter& painter, const CurveStyle& style, const QPointF& at, double size, bool filled,
                  const QColor& ground) {
    painter.setPen(QPen(style.colour, 1.6));
    painter.setBrush(filled ? style.colour : ground);
    painter.drawPath(marker_path(style.marker, at, size));
}

QPixmap curve_pixmap(const CurveStyle& style, const QSize& size, double ratio, const QColor& ground) {
    QPixmap pixmap(size * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    const double middle = size.height() / 2.0;
    painter.setPen(style.pen(2));
    painter.drawLine(QPointF(1, middle), QPointF(size.width() - 1, middle));
    paint_marker(painter, style, QPointF(size.width() / 2.0, middle), 9, true, ground);
    return pixmap;
}

}  // namespace headroom::gui
