#include "gui/view/traffic_chart.h"

#include <QBarSet>
#include <QMouseEvent>
#include <QStackedBarSeries>
#include <QToolTip>
#include <QValueAxis>
#include <cmath>

#include "gui/model/text.h"
#include "gui/view/chart_style.h"
#include "gui/view/page_map_widget.h"

namespace headroom::gui {
namespace {

// Narrower bars are no bars.
constexpr double kLeastBar_px = 5;
constexpr int kTop = 8, kBottom = 6;

std::vector<Tick> count_ticks(double most, double height) {
    std::vector<Tick> ticks;
    for (const int64_t t : whole_ticks(0, most, most * 26 / std::max(26.0, height), false))
        ticks.push_back({static_cast<double>(t), count_text(t)});
    return ticks;
}

}  // namespace

TrafficChart::TrafficChart(QWidget* parent)
    : QChartView(parent),
      chart_(new QChart),
      series_(new QStackedBarSeries),
      chunks_(new QValueAxis),
      amounts_(new QCategoryAxis),
      palette_(Palette::light()) {
    for (QBarSet*& set : sets_) {
        set = new QBarSet(QString());
        series_->append(set);
    }
    series_->setBarWidth(0.8);
    setChart(chart_);
    make_plain(*this);
    chart_->addSeries(series_);
    chart_->addAxis(chunks_, Qt::AlignBottom);
    chart_->addAxis(amounts_, Qt::AlignLeft);
    chunks_->setLabelsVisible(false);
    chunks_->setGridLineVisible(false);
    chunks_->setLineVisible(false);
    amounts_->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
    series_->attachAxis(chunks_);
    series_->attachAxis(amounts_);
    setAccessibleName(tr("Traffic of each chunk"));
    restyle();
}

void TrafficChart::set_palette(const Palette& palette) {
    palette_ = palette;
    restyle();
}

void TrafficChart::restyle() {
    colour(*this, palette_);
    const std::vector<LegendEntry> entries = legend();
    for (size_t p = 0, e = 0; p < kTrafficParts; ++p) {
        if (unit_ == TrafficUnit::bytes && (p == 1 || p == 2)) continue;
        sets_[p]->setBrush(entries[e++].swatches.front());
        sets_[p]->setPen(Qt::NoPen);
        sets_[p]->setBorderColor(Qt::transparent);
    }
}

std::vector<LegendEntry> TrafficChart::legend() const {
    const QBrush loaded(palette_.of(OpKind::load_pages)), hit(palette_.of(Category::page_cache)),
        gradients(palette_.of(OpKind::load_page_gradients), Qt::Dense4Pattern),
        written(palette_.of(OpKind::store_pages));
    std::vector<LegendEntry> entries;
    if (unit_ == TrafficUnit::bytes)
        entries = {{{loaded}, tr("loaded to the device")}, {{written}, tr("written to the host or disk")}};
    else
        entries = {{{loaded}, tr("K, V pages loaded")},
                   {{hit}, tr("found in the page cache")},
                   {{gradients}, tr("dK, dV pages loaded")},
                   {{written}, tr("pages written to the host or disk")}};
    if (columns_.chunks_each > 1)
        entries.push_back({{}, tr("(each bar: the mean of %1 chunks)").arg(columns_.chunks_each)});
    return entries;
}

void TrafficChart::show_traffic(const TrafficTable* table, Pass pass, int layer, TrafficUnit unit,
                                const MapWindow& window) {
    const bool other_unit = unit != unit_;
    table_ = table;
    pass_ = pass;
    layer_ = layer;
    unit_ = unit;
    window_ = window;
    if (other_unit) restyle();
    refill();
}

void TrafficChart::set_chunk(std::optional<int64_t> chunk) {
    if (chunk == chunk_) return;
    chunk_ = chunk;
    viewport()->update();
}

void TrafficChart::resizeEvent(QResizeEvent* event) {
    QChartView::resizeEvent(event);
    place();
    refill();
}

void TrafficChart::place() {
    chart_->setPlotArea(QRectF(PageMapWidget::kLeft, kTop,
                               std::max(1, width() - PageMapWidget::kLeft - PageMapWidget::kRight),
                               std::max(1, height() - kTop - kBottom)));
}

void TrafficChart::refill() {
    if (table_ == nullptr) {
        columns_ = {};
    } else {
        const double room = std::max(1, width() - PageMapWidget::kLeft - PageMapWidget::kRight);
        columns_ = traffic_columns(*table_, pass_, layer_, unit_, window_.chunk0, window_.chunk1,
                                   static_cast<int64_t>(room / kLeastBar_px));
    }
    for (size_t p = 0; p < kTrafficParts; ++p) {
        QList<qreal> values;
        for (const TrafficBar& bar : columns_.bars) values << bar[p];
        sets_[p]->remove(0, sets_[p]->count());
        sets_[p]->append(values);
    }
    // A bar stands at the middle of its chunks; column i covers [i - 0.5, i + 0.5).
    const double each = static_cast<double>(columns_.chunks_each),
                 first = static_cast<double>(columns_.first);
    chunks_->setRange(window_.chunk0 / each - first - 0.5, window_.chunk1 / each - first - 0.5);
    const double most = std::max(1.0, columns_.most()) * 1.04;
    const double high = std::max(1, height() - kTop - kBottom);
    set_ticks(*amounts_,
              unit_ == TrafficUnit::bytes ? byte_ticks(static_cast<int64_t>(most), high, 26)
                                          : count_ticks(most, high),
              0, most);
    const QString unit = unit_ == TrafficUnit::bytes ? tr("bytes a chunk") : tr("pages a chunk");
    amounts_->setTitleText(unit);
    setAccessibleDescription(columns_.chunks_each == 1
                                 ? unit
                                 : tr("%1, mean of %2 chunks a bar").arg(unit).arg(columns_.chunks_each));
}

void TrafficChart::drawForeground(QPainter* painter, const QRectF&) {
    const QRectF plot = chart_->plotArea();
    if (table_ != nullptr && columns_.most() == 0) {
        painter->setPen(palette_.faint_text);
        painter->drawText(plot, Qt::AlignCenter, nothing_text());
    }
    if (!chunk_ || table_ == nullptr) return;
    const MapAxes axes{window_, plot};
    const double x = axes.x_of(static_cast<double>(*chunk_) + 0.5);
    if (x < plot.left() || x > plot.right()) return;
    painter->setPen(QPen(palette_.accent, 2));
    painter->drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
}

QString TrafficChart::nothing_text() const {
    if (table_ == nullptr || columns_.most() > 0) return {};
    return pass_ == Pass::fill ? tr("Nothing travels for these chunks in the fill pass.")
                               : tr("Nothing travels for these chunks in the gradient pass.");
}

QString TrafficChart::text_of_chunk(int64_t chunk) const {
    const int64_t column = chunk / columns_.chunks_each - columns_.first;
    if (table_ == nullptr || column < 0 || column >= static_cast<int64_t>(columns_.bars.size())) return {};
    const TrafficBar& bar = columns_.bars[static_cast<size_t>(column)];
    const int64_t first = (columns_.first + column) * columns_.chunks_each,
                  last = std::min(first + columns_.chunks_each, table_->chunks) - 1;
    QStringList lines;
    lines << (first == last ? tr("Chunk %1").arg(count_text(first))
                            : tr("Mean of chunks %1 to %2").arg(count_text(first), count_text(last)));
    const std::vector<LegendEntry> entries = legend();
    for (size_t p = 0, e = 0; p < kTrafficParts; ++p) {
        if (unit_ == TrafficUnit::bytes && (p == 1 || p == 2)) continue;
        const double value = bar[p];
        const QString amount = unit_ == TrafficUnit::bytes ? bytes_text(std::llround(value))
                               : first == last             ? count_text(std::llround(value))
                                                           : QString::number(value, 'f', 1);
        lines << amount + " " + entries[e++].text;
    }
    return lines.join('\n');
}

void TrafficChart::mouseMoveEvent(QMouseEvent* event) {
    QChartView::mouseMoveEvent(event);
    const MapAxes axes{window_, chart_->plotArea()};
    const QString text =
        axes.plot.contains(event->position())
            ? text_of_chunk(static_cast<int64_t>(std::floor(axes.chunk_at(event->position().x()))))
            : QString();
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(event->globalPosition().toPoint(), text, this);
}

void TrafficChart::leaveEvent(QEvent* event) {
    QToolTip::hideText();
    QChartView::leaveEvent(event);
}

}  // namespace headroom::gui
