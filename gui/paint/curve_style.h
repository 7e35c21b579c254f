// How the curves of several strategies are told apart: by colour, by marker and by dashes, so that one of
// them is enough.
#pragma once

#include <QColor>
#include <QPainterPath>
#include <QPen>
#include <QPixmap>

#include "gui/paint/palette.h"

namespace headroom::gui {

struct CurveStyle {
    QColor colour;
    int marker = 0;
    Qt::PenStyle dashes = Qt::SolidLine;

    QPen pen(double width) const { return QPen(colour, width, dashes); }
};
// Of the i-th curve; six are distinct.
CurveStyle curve_style(size_t i, const Palette& palette);
// Round about the point, `size` across.
QPainterPath marker_path(int marker, const QPointF& at, double size);
// Filled: fits; hollow, on `ground`: does not.
void paint_marker(QPainter& painter, const CurveStyle& style, const QPointF& at, double size, bool filled,
                  const QColor& ground);
// A piece of line with its marker, for a legend; `ratio`: device pixels a pixel.
QPixmap curve_pixmap(const CurveStyle& style, const QSize& size, double ratio, const QColor& ground);

}  // namespace headroom::gui
