// What every picture of a lane paints alike.
#pragma once

#include <QRect>
#include <QRectF>
#include <QString>
#include <functional>

#include "gui/paint/lane_list.h"
#include "gui/paint/palette.h"

class QPainter;

namespace headroom::gui {

// From the pixels of a draw list to those of now: the same but for the moment until the new list is there.
struct Stretch {
    double scale = 1, shift = 0;
    Stretch(const TimeAxis& list, const TimeAxis& now);
    double x(double at) const { return at * scale + shift; }
    // Within the lane. A pixel at least, but for what the stretching has moved outside.
    QRectF rect(const Extent& extent, const QRect& lane) const;
};

// A slice that was stretched to `rect`, and in it what `words()` says, or where that is too long its kind.
void paint_slice(QPainter& painter, const Slice& slice, QRectF rect, const QRect& lane,
                 const Palette& palette, const std::function<QString()>& words);

// The bins of a lane, each a stack of the kinds in it. Cost: a fill of each colour.
void paint_bins(QPainter& painter, const LaneList& list, const Stretch& stretch, const QRect& lane,
                const Palette& palette);

}  // namespace headroom::gui
