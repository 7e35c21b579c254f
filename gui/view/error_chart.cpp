#include "gui/view/error_chart.h"

#include <QBarCategoryAxis>
#include <QBarSet>
#include <QChart>
#include <QChartView>
#include <QHorizontalStackedBarSeries>
#include <QKeyEvent>
#include <QLegend>
#include <QToolTip>
#include <QVBoxLayout>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

#include "gui/model/text.h"
#include "gui/view/chart_style.h"
#include "gui/view/round_axis.h"

namespace headroom::gui {
namespace {

constexpr double kMost_percent = 200;  // longer bars end here; the tip says how long they are

}  // namespace

std::vector<ErrorBar> error_bars(const StepComparison& c, double tolerance, size_t most) {
    std::vector<ErrorBar> bars;
    for (const Difference& d : c.figures.differences) {
        if (d.group != "kind" || !d.judged) continue;
        const OpId op = place_of(c, d).op;
        if (op == kNone) continue;
        bars.push_back({c.measured->timeline.ops[op].kind, d.error, d.predicted - d.measured,
                        std::abs(d.error) > tolerance});
    }
    std::stable_sort(bars.begin(), bars.end(), [](const ErrorBar& a, const ErrorBar& b) {
        return std::abs(a.difference_ns) > std::abs(b.difference_ns);
    });
    if (bars.size() > most) bars.resize(most);
    return bars;
}

ErrorChart::ErrorChart(QWidget* parent)
    : QWidget(parent),
      palette_(Palette::light()),
      within_(new QBarSet(tr("within the tolerance"))),
      outside_(new QBarSet(tr("outside"))),
      kinds_(new QBarCategoryAxis),
      values_(new QValueAxis),
      view_(nullptr) {
    auto* chart = new QChart;
    make_plain(*chart);
    auto* series = new QHorizontalStackedBarSeries;
    series->append(within_);
    series->append(outside_);
    series->setBarWidth(0.7);
    chart->addSeries(series);
    chart->addAxis(kinds_, Qt::AlignLeft);
    chart->addAxis(values_, Qt::AlignBottom);
    series->attachAxis(kinds_);
    series->attachAxis(values_);
    kinds_->setGridLineVisible(false);
    kinds_->setTruncateLabels(false);  // else cut to "..." at some sizes, with room beside them
    chart->legend()->show();
    chart->legend()->setAlignment(Qt::AlignTop);
    view_ = new QChartView(chart);
    view_->setFrameShape(QFrame::NoFrame);
    view_->setFocusPolicy(Qt::NoFocus);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Errors by kind of operation"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(view_);
    setMinimumSize(240, 160);
    connect(series, &QAbstractBarSeries::clicked, this, [this](int index, QBarSet*) { clicked(index); });
    connect(series, &QAbstractBarSeries::hovered, this, [this](bool on, int index, QBarSet*) {
        if (!on || index < 0 || index >= static_cast<int>(bars_.size())) return QToolTip::hideText();
        const ErrorBar& bar = bars_[bars_.size() - 1 - static_cast<size_t>(index)];
        QToolTip::showText(
            QCursor::pos(),
            tr("%1: %2, %3 %4 than measured; click for the op that differs most")
                .arg(label_of(bar.kind), error_text(bar.error), time_text(std::abs(bar.difference_ns)),
                     bar.difference_ns < 0 ? tr("less") : tr("more")),
            view_);
    });
    set_palette(palette_);
}

void ErrorChart::clicked(int index) {
    if (index < 0 || index >= static_cast<int>(bars_.size())) return;
    Q_EMIT kind_clicked(bars_[bars_.size() - 1 - static_cast<size_t>(index)].kind);
}

// `bar` as in bars_; the axis counts from below.
void ErrorChart::choose(size_t bar) {
    chosen_ = bar;
    const auto index = static_cast<int>(bars_.size() - 1 - bar);
    for (QBarSet* set : {within_, outside_}) {
        set->deselectAllBars();
        set->selectBar(index);
    }
    setAccessibleDescription(tr("%1: %2").arg(label_of(bars_[bar].kind), error_text(bars_[bar].error)));
}

void ErrorChart::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    if (bars_.empty()) return QWidget::keyPressEvent(event);
    if (key == Qt::Key_Down) return choose(chosen_ ? std::min(*chosen_ + 1, bars_.size() - 1) : 0);
    if (key == Qt::Key_Up) return choose(chosen_ && *chosen_ > 0 ? *chosen_ - 1 : 0);
    if ((key == Qt::Key_Return || key == Qt::Key_Enter) && chosen_) {
        Q_EMIT kind_clicked(bars_[*chosen_].kind);
    } else {
        QWidget::keyPressEvent(event);
    }
}

void ErrorChart::set(ComparisonPtr comparison, double tolerance) {
    comparison_ = std::move(comparison);
    tolerance_ = tolerance;
    refresh();
}

void ErrorChart::set_in_time(bool in_time) {
    in_time_ = in_time;
    refresh();
}

size_t ErrorChart::room() const {
    constexpr int kAround_px = 96;  // legend, axis and its title
    return static_cast<size_t>(std::clamp((height() - kAround_px) / (fontMetrics().height() + 5), 3, 24));
}

void ErrorChart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (comparison_ && room() != shown_) refresh();
}

void ErrorChart::refresh() {
    shown_ = room();
    bars_ = comparison_ ? error_bars(*comparison_, tolerance_, room()) : std::vector<ErrorBar>{};
    chosen_ = std::nullopt;
    within_->remove(0, within_->count());
    outside_->remove(0, outside_->count());
    QStringList names;
    double low = 0, high = 0;
    // The axis counts from below.
    for (auto bar = bars_.rbegin(); bar != bars_.rend(); ++bar) {
        const double value = in_time_ ? static_cast<double>(bar->difference_ns) * 1e-6
                                      : std::clamp(100 * bar->error, -kMost_percent, kMost_percent);
        within_->append(bar->outside ? 0 : value);
        outside_->append(bar->outside ? value : 0);
        low = std::min(low, value);
        high = std::max(high, value);
        names << label_of(bar->kind);
    }
    kinds_->setCategories(names);
    values_->setTitleText(in_time_ ? tr("Predicted less measured (ms)") : tr("Error of the prediction (%)"));
    values_->setLabelFormat("%.4g");
    set_round_range(*values_, low, high);
    view_->setVisible(!bars_.empty());
}

void ErrorChart::set_palette(const Palette& palette) {
    palette_ = palette;
    colour(*view_->chart(), palette);
    view_->setBackgroundBrush(palette.background);
    view_->chart()->legend()->setLabelColor(palette.text);
    kinds_->setLabelsColor(palette.text);
    within_->setBrush(palette.good);
    within_->setPen(Qt::NoPen);
    // Hatched besides the colour.
    outside_->setBrush(QBrush(palette.bad, Qt::Dense3Pattern));
    outside_->setPen(QPen(palette.bad, 1));
    for (QBarSet* set : {within_, outside_}) set->setSelectedColor(palette.selection);
}

}  // namespace headroom::gui
