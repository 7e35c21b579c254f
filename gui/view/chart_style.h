// Qt Charts in the colours of the app, with axes that speak its units.
#pragma once

#include <QCategoryAxis>
#include <QChart>
#include <QChartView>
#include <vector>

#include "gui/paint/palette.h"
#include "gui/paint/time_axis.h"

namespace headroom::gui {

// No title, no legend, no margins, no animation: room for the data.
void make_plain(QChart& chart);
// The same of the chart in a view without frame and scroll bars, whose plot area is set by hand.
void make_plain(QChartView& view);
void colour(QChart& chart, const Palette& palette);
void colour(QChartView& view, const Palette& palette);
void colour(QAbstractAxis& axis, const Palette& palette);
// Ticks with words at their values, over [low, high].
void set_ticks(QCategoryAxis& axis, const std::vector<Tick>& ticks, double low, double high);

}  // namespace headroom::gui
