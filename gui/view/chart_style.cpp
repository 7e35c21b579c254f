#include "gui/view/chart_style.h"

#include <QFont>
#include <QGraphicsLayout>
#include <QLegend>

namespace headroom::gui {

void make_plain(QChartView& view) {
    QChart& chart = *view.chart();
    chart.legend()->hide();
    chart.setMargins(QMargins(0, 0, 0, 0));
    chart.layout()->setContentsMargins(0, 0, 0, 0);
    chart.setAnimationOptions(QChart::NoAnimation);
    // The chart's own background keeps its size once the plot area is set by hand.
    chart.setBackgroundVisible(false);
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

void colour(QChartView& view, const Palette& palette) {
    view.setBackgroundBrush(palette.background);
    const QList<QAbstractAxis*> axes = view.chart()->axes();
    for (QAbstractAxis* axis : axes) colour(*axis, palette);
}

void set_ticks(QCategoryAxis& axis, const std::vector<Tick>& ticks, double low, double high) {
    const QStringList before = axis.categoriesLabels();
    for (const QString& label : before) axis.remove(label);
    axis.setRange(low, high);
    axis.setStartValue(low);
    for (const Tick& tick : ticks) axis.append(tick.label, tick.value);
}

}  // namespace headroom::gui
