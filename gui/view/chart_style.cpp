#include "gui/view/chart_style.h"

#include <QFont>
#include <QGraphicsLayout>
#include <QLegend>

namespace headroom::gui {

void make_plain(QChart& chart) {
    chart.legend()->hide();
    chart.setMargins(QMargins(0, 0, 0, 0));
    chart.layout()->setContentsMargins(0, 0, 0, 0);
    chart.setBackgroundRoundness(0);
    chart.setAnimationOptions(QChart::NoAnimation);
}

void make_plain(QChartView& view) {
    make_plain(*view.chart());
    // The chart's own background keeps its size once the plot area is set by hand.
    view.chart()->setBackgroundVisible(false);
    view.setFrameShape(QFrame::NoFrame);
    view.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view.setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view.setFocusPolicy(Qt::NoFocus);
    view.setMouseTracking(true);
}

void colour(QAbstractAxis& axis, const Palette& palette) {
    axis.setLabelsColor(palette.faint_text);
    axis.setTitleBrush(palette.text);
    axis.setGridLineColor(palette.grid);
    axis.setLinePenColor(palette.grid);
    axis.setShadesVisible(false);
    QFont plain = axis.labelsFont();
    plain.setBold(false);
    axis.setTitleFont(plain);
}

void colour(QChart& chart, const Palette& palette) {
    chart.setBackgroundBrush(palette.background);
    chart.setBackgroundPen(Qt::NoPen);
    chart.setPlotAreaBackgroundVisible(false);
    const QList<QAbstractAxis*> axes = chart.axes();
    for (QAbstractAxis* axis : axes) colour(*axis, palette);
}

void colour(QChartView& view, const Palette& palette) {
    view.setBackgroundBrush(palette.background);
    colour(*view.chart(), palette);
}

void set_ticks(QCategoryAxis& axis, const std::vector<Tick>& ticks, double low, double high) {
    const QStringList before = axis.categoriesLabels();
    for (const QString& label : before) axis.remove(label);
    axis.setRange(low, high);
    axis.setStartValue(low);
    for (const Tick& tick : ticks) axis.append(tick.label, tick.value);
}

}  // namespace headroom::gui
