#include "gui/view/run_charts.h"

#include <QChart>
#include <QChartView>
#include <QHBoxLayout>
#include <QLegend>
#include <QLineSeries>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "gui/view/chart_style.h"
#include "gui/view/round_axis.h"

namespace headroom::gui {
namespace {

QValueAxis* axis(const QString& title, const char* format) {
    auto* made = new QValueAxis;
    made->setTitleText(title);
    made->setLabelFormat(format);
    made->setRange(0, 1);
    return made;
}

// Every k-th of `count`, and the last.
std::vector<size_t> thinned(size_t count) {
    std::vector<size_t> kept;
    const size_t by = std::max<size_t>(1, (count + RunCharts::kMostPoints - 1) / RunCharts::kMostPoints);
    for (size_t i = 0; i < count; i += by) kept.push_back(i);
    if (count > 0 && kept.back() != count - 1) kept.push_back(count - 1);
    return kept;
}

void fit(QValueAxis& axis, const QList<QPointF>& points, bool from_zero) {
    if (points.isEmpty()) return;
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(), [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); });
    set_round_range(axis, from_zero ? 0 : low->y(), high->y());
}

QChartView* view_of(QChart* chart, const QString& name) {
    auto* view = new QChartView(chart);
    view->setRenderHint(QPainter::Antialiasing);
    view->setFrameShape(QFrame::NoFrame);
    view->setFocusPolicy(Qt::NoFocus);  // there is nothing to do with it
    view->setAccessibleName(name);
    view->setMinimumSize(220, 160);
    chart->legend()->show();
    chart->legend()->setAlignment(Qt::AlignTop);
    chart->legend()->setMarkerShape(QLegend::MarkerShapeFromSeries);
    return view;
}

}  // namespace

RunCharts::RunCharts(QWidget* parent)
    : QWidget(parent),
      loss_(new QLineSeries),
      norm_(new QLineSeries),
      resident_(new QLineSeries),
      device_(new QLineSeries),
      step_axis_(axis(tr("Step"), "%d")),
      loss_axis_(axis(tr("Loss (nats a token)"), "%.4g")),
      norm_axis_(axis(tr("Gradient norm"), "%.3g")),
      time_axis_(axis(tr("Time since the start (s)"), "%.4g")),
      memory_axis_(axis(tr("Memory (MiB)"), "%.0f")),
      numbers_(make_numbers()),
      memory_(make_memory()) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(numbers_, 1);
    row->addWidget(memory_, 1);
    set_palette(Palette::light());
}

QChartView* RunCharts::make_numbers() {
    auto* chart = new QChart;
    make_plain(*chart);
    loss_->setName(tr("Loss"));
    norm_->setName(tr("Gradient norm (right)"));
    chart->addAxis(step_axis_, Qt::AlignBottom);
    chart->addAxis(loss_axis_, Qt::AlignLeft);
    chart->addAxis(norm_axis_, Qt::AlignRight);
    for (QLineSeries* series : {loss_, norm_}) {
        chart->addSeries(series);
        series->attachAxis(step_axis_);
        series->setPointsVisible(true);
    }
    loss_->attachAxis(loss_axis_);
    norm_->attachAxis(norm_axis_);
    norm_axis_->setGridLineVisible(false);
    return view_of(chart, tr("Loss and gradient norm by step"));
}

QChartView* RunCharts::make_memory() {
    auto* chart = new QChart;
    make_plain(*chart);
    resident_->setName(tr("Host memory of the process"));
    device_->setName(tr("Device memory in use"));
    chart->addAxis(time_axis_, Qt::AlignBottom);
    chart->addAxis(memory_axis_, Qt::AlignLeft);
    for (QLineSeries* series : {resident_, device_}) {
        chart->addSeries(series);
        series->attachAxis(time_axis_);
        series->attachAxis(memory_axis_);
    }
    device_->setVisible(false);
    return view_of(chart, tr("Memory by time"));
}

void RunCharts::show_run(const RunSoFar& run) {
    show_numbers(run);
    show_memory(run);
}

void RunCharts::show_numbers(const RunSoFar& run) {
    QList<QPointF> loss, norm;
    for (const size_t i : thinned(run.steps.size())) {
        const RunEvent& e = run.steps[i];
        const auto step = static_cast<double>(e.step + 1);
        if (e.loss) loss << QPointF(step, *e.loss);
        if (e.gradient_norm) norm << QPointF(step, *e.gradient_norm);
    }
    loss_->replace(loss);
    norm_->replace(norm);
    // Single points need marks; many of them would hide the line.
    for (QLineSeries* series : {loss_, norm_}) series->setPointsVisible(series->count() <= 100);
    fit(*loss_axis_, loss, false);
    fit(*norm_axis_, norm, false);
    const int64_t first = run.start ? run.start->first_step + 1 : 1;
    const int64_t last = run.start ? run.start->first_step + run.start->steps : 1;
    const double pad = last > first ? 0 : 0.5;
    // Ticks at whole steps.
    const int64_t interval = std::max<int64_t>(1, (last - first + 7) / 8);
    set_ticks(*step_axis_, static_cast<double>(first) - pad, static_cast<double>(last) + pad,
              static_cast<double>(first), static_cast<double>(interval));
}

void RunCharts::show_memory(const RunSoFar& run) {
    constexpr double kMi = static_cast<double>(kMiB);
    const auto points = [](const std::vector<RunSoFar::Memory>& memory) {
        QList<QPointF> list;
        for (const size_t i : thinned(memory.size()))
            list << QPointF(memory[i].seconds, static_cast<double>(memory[i].bytes) / kMi);
        return list;
    };
    const QList<QPointF> resident = points(run.memory), device = points(run.device_memory);
    resident_->replace(resident);
    device_->replace(device);
    device_->setVisible(!device.isEmpty());
    fit(*memory_axis_, resident + device, true);
    double last = 1;
    if (!resident.isEmpty()) last = std::max(last, resident.back().x());
    if (!device.isEmpty()) last = std::max(last, device.back().x());
    set_round_range(*time_axis_, 0, last);
    time_axis_->setMax(last);
}

void RunCharts::set_palette(const Palette& palette) {
    for (QChartView* view : {numbers_, memory_}) {
        colour(*view->chart(), palette);
        view->setBackgroundBrush(palette.background);
        view->chart()->legend()->setLabelColor(palette.text);
    }
    loss_->setPen(QPen(palette.measured, 2));
    norm_->setPen(QPen(palette.faint_text, 1.5, Qt::DashLine));
    resident_->setPen(QPen(palette.of(Tier::host), 2));
    device_->setPen(QPen(palette.of(Tier::device), 2, Qt::DashLine));
}

}  // namespace headroom::gui
