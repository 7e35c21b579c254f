#include "gui/view/sweep_panel.h"

#include <QCategoryAxis>
#include <QKeyEvent>
#include <QLineSeries>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "gui/model/text.h"
#include "gui/paint/curve_style.h"
#include "gui/paint/log_axis.h"
#include "gui/view/chart_style.h"

namespace headroom::gui {
namespace {

constexpr double kMarker = 9, kNear_px = 12;
constexpr int kRow = 17;  // of a label above the plot

}  // namespace

SweepPanel::SweepPanel(Quantity quantity, bool last, QWidget* parent)
    : QChartView(parent),
      quantity_(quantity),
      last_(last),
      chart_(new QChart),
      contexts_(new QCategoryAxis),
      amounts_(new QCategoryAxis),
      palette_(Palette::light()) {
    setChart(chart_);
    make_plain(*this);
    chart_->addAxis(contexts_, Qt::AlignBottom);
    chart_->addAxis(amounts_, Qt::AlignLeft);
    for (QCategoryAxis* axis : {contexts_, amounts_})
        axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
    contexts_->setLabelsVisible(last_);
    if (last_) contexts_->setTitleText(tr("context (tokens)"));
    const QString names[] = {tr("device memory"), tr("host memory"), tr("step time")};
    amounts_->setTitleText(names[static_cast<size_t>(quantity_)]);
    setRenderHint(QPainter::Antialiasing);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("%1 against context").arg(names[static_cast<size_t>(quantity_)]));
    colour(*this, palette_);
}

double SweepPanel::value_of(const SweepPoint& p) const {
    if (quantity_ == Quantity::step)
        return log_position(static_cast<double>(std::max<int64_t>(1, p.step_ns)));
    return static_cast<double>(p.need_bytes[quantity_ == Quantity::device ? 0 : 1]);
}

void SweepPanel::set_palette(const Palette& palette) {
    palette_ = palette;
    colour(*this, palette_);
    refill();
}

void SweepPanel::show_picture(std::shared_ptr<const SweepPicture> picture) {
    picture_ = std::move(picture);
    marked_ = std::nullopt;
    refill();
}

void SweepPanel::mark(std::optional<size_t> point) {
    marked_ = point;
    viewport()->update();
}

void SweepPanel::resizeEvent(QResizeEvent* event) {
    QChartView::resizeEvent(event);
    place();
    if (picture_) set_axes();
}

void SweepPanel::place() {
    // Above the plot stand the budget, and in the first panel the names of the limits.
    size_t labels = quantity_ == Quantity::step ? 0 : 1;
    if (quantity_ == Quantity::device && picture_) {
        for (const SweepLimit& l : picture_->limits) labels += l.stops_at ? 1 : 0;
    }
    const double top = 8 + static_cast<double>(labels) * kRow, bottom = last_ ? 46 : 8;
    chart_->setPlotArea(
        QRectF(kLeft, top, std::max(1, width() - kLeft - kRight), std::max(1.0, height() - top - bottom)));
}

// The range of the amounts shows every point that is not far above the budget, and the budget itself.
void SweepPanel::set_axes() {
    const SweepPicture& p = *picture_;
    double least = 0, most = 0;
    budget_ = std::nullopt;
    for (const SweepPoint& point : p.points) {
        if (!point.runs) continue;
        const double value = value_of(point);
        least = least == 0 ? value : std::min(least, value);
        most = std::max(most, value);
        if (quantity_ == Quantity::step) continue;
        const int64_t budget = point.budget_bytes[quantity_ == Quantity::device ? 0 : 1];
        if (budget > 0) budget_ = std::max(budget_.value_or(0), static_cast<double>(budget));
    }
    const double height = chart_->plotArea().height();
    if (quantity_ == Quantity::step) {
        const LogRange range =
            most > 0 ? log_time_range(std::exp2(least), std::exp2(most)) : LogRange{1e9, 1e10};
        low_ = log_position(range.low);
        high_ = log_position(range.high);
        set_ticks(*amounts_, log_time_ticks(range.low, range.high), low_, high_);
    } else {
        low_ = 0;
        high_ = std::max(1.0, most);
        if (budget_) high_ = std::max(std::min(high_, 2 * *budget_), *budget_) * 1.08;
        set_ticks(*amounts_, byte_ticks(static_cast<int64_t>(high_), height, 26), low_, high_);
    }
    const double first = log_position(static_cast<double>(p.from.count())),
                 last = log_position(static_cast<double>(p.to.count()));
    const double room = std::max(0.05, (last - first) * 0.02);  // the outer markers are shown whole
    const auto labels = static_cast<size_t>(std::max(2.0, chart_->plotArea().width() / 64));
    set_ticks(*contexts_, context_ticks(p.from.count(), p.to.count(), labels), first - room, last + room);
}

void SweepPanel::refill() {
    chart_->removeAllSeries();
    place();
    if (!picture_) return;
    set_axes();
    for (size_t i = 0; i < picture_->strategies.size(); ++i) {
        QList<QPointF> line;
        for (const SweepPoint& p : picture_->points) {
            if (p.strategy == picture_->strategies[i] && p.runs)
                line << QPointF(log_position(static_cast<double>(p.context.count())), value_of(p));
        }
        if (line.size() < 2) continue;
        auto* series = new QLineSeries;
        series->setPen(curve_style(picture_->styles[i], palette_).pen(2));
        series->append(line);
        chart_->addSeries(series);
        series->attachAxis(contexts_);
        series->attachAxis(amounts_);
    }
    viewport()->update();
}

std::optional<QPointF> SweepPanel::pixel_of(size_t point) const {
    if (!picture_ || point >= picture_->points.size()) return std::nullopt;
    const SweepPoint& p = picture_->points[point];
    if (!p.runs || std::find(picture_->strategies.begin(), picture_->strategies.end(), p.strategy) ==
                       picture_->strategies.end())
        return std::nullopt;
    const QRectF plot = chart_->plotArea();
    const double x = (log_position(static_cast<double>(p.context.count())) - contexts_->min()) /
                     (contexts_->max() - contexts_->min()),
                 y = (value_of(p) - low_) / (high_ - low_);
    if (y > 1) return std::nullopt;
    return QPointF(plot.left() + x * plot.width(), plot.bottom() - y * plot.height());
}

std::optional<size_t> SweepPanel::point_at(const QPointF& pixel) const {
    std::optional<size_t> nearest;
    double least = kNear_px;
    for (size_t i = 0; picture_ && i < picture_->points.size(); ++i) {
        const std::optional<QPointF> at = pixel_of(i);
        if (!at) continue;
        const double distance = std::hypot(at->x() - pixel.x(), at->y() - pixel.y());
        if (distance > least) continue;
        least = distance;
        nearest = i;
    }
    return nearest;
}

void SweepPanel::paint_budget(QPainter& painter, const QRectF& plot) const {
    if (!budget_) return;
    const double y = plot.bottom() - *budget_ / high_ * plot.height();
    painter.setPen(QPen(palette_.bad, 1.5, Qt::DashLine));
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    // Named above the plot, where no curve passes.
    const double row = kRow / 2.0 + 4;
    painter.drawLine(QPointF(plot.left(), row), QPointF(plot.left() + 26, row));
    painter.drawText(QRectF(plot.left() + 32, 4, plot.width(), kRow), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("budget %1").arg(bytes_text(static_cast<int64_t>(*budget_))));
}

// A line down from where each strategy still fits; above the first panel the name and the context.
void SweepPanel::paint_limits(QPainter& painter, const QRectF& plot) const {
    const QFontMetrics metrics(font());
    struct Mark {
        const SweepLimit* limit;
        size_t style;
        Tokens at;
    };
    std::vector<Mark> marks;
    for (const SweepLimit& limit : picture_->limits) {
        if (!limit.stops_at) continue;
        const auto name = std::find(picture_->strategies.begin(), picture_->strategies.end(), limit.strategy);
        marks.push_back({&limit, picture_->styles[static_cast<size_t>(name - picture_->strategies.begin())],
                         limit.fits_to.value_or(*limit.stops_at)});
    }
    // The rightmost on top: no line passes through the words to its left.
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.at > b.at; });
    int row = 1;  // below the budget's
    for (const auto& [limit, style_index, at] : marks) {
        const CurveStyle style = curve_style(style_index, palette_);
        const double share = (log_position(static_cast<double>(at.count())) - contexts_->min()) /
                             (contexts_->max() - contexts_->min());
        const double x = plot.left() + share * plot.width();
        const bool first = quantity_ == Quantity::device;
        const double top = first ? 4.0 + row * kRow : plot.top();
        painter.setPen(QPen(style.colour, 1.2, Qt::DotLine));
        painter.drawLine(QPointF(x, first ? top + kRow / 2.0 : top), QPointF(x, plot.bottom()));
        ++row;
        if (!first) continue;
        const QString name = text_of(limit->strategy);
        const QString text = limit->fits_to ? tr("%1 fits up to %2").arg(name, text_of(format_tokens(at)))
                                            : tr("%1 fits at none of these").arg(name);
        const double wide = metrics.horizontalAdvance(text) + 8;
        const bool left = x - wide > plot.left();
        const QRectF box(left ? x - wide - 4 : x + 8, top, wide, kRow);
        painter.setPen(palette_.text);
        painter.drawText(box, Qt::AlignVCenter | (left ? Qt::AlignRight : Qt::AlignLeft), text);
        paint_marker(painter, style, QPointF(x, top + kRow / 2.0), 7, true, palette_.background);
    }
}

void SweepPanel::drawForeground(QPainter* painter, const QRectF&) {
    if (!picture_) return;
    const QRectF plot = chart_->plotArea();
    painter->setFont(font());
    paint_limits(*painter, plot);
    paint_budget(*painter, plot);
    for (size_t i = 0; i < picture_->points.size(); ++i) {
        const std::optional<QPointF> at = pixel_of(i);
        if (!at) continue;
        const SweepPoint& p = picture_->points[i];
        const auto name = std::find(picture_->strategies.begin(), picture_->strategies.end(), p.strategy);
        const size_t style = picture_->styles[static_cast<size_t>(name - picture_->strategies.begin())];
        paint_marker(*painter, curve_style(style, palette_), *at, kMarker, p.fits, palette_.background);
    }
    if (hasFocus()) {
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(palette_.accent, 1));
        painter->drawRect(chart_->plotArea());
    }
    const std::optional<QPointF> marked = marked_ ? pixel_of(*marked_) : std::nullopt;
    if (!marked) return;
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(palette_.selection, 2));
    painter->drawEllipse(*marked, kMarker, kMarker);
}

void SweepPanel::mousePressEvent(QMouseEvent* event) {
    const std::optional<size_t> at = point_at(event->position());
    if (event->button() == Qt::LeftButton && at) Q_EMIT picked(*at);
}

void SweepPanel::mouseDoubleClickEvent(QMouseEvent* event) {
    const std::optional<size_t> at = point_at(event->position());
    if (event->button() == Qt::LeftButton && at) Q_EMIT opened(*at);
}

std::optional<size_t> SweepPanel::next_to_mark(int along, int across) const {
    if (!picture_) return std::nullopt;
    const std::vector<SweepPoint>& points = picture_->points;
    const bool any = marked_ && pixel_of(*marked_);
    std::optional<size_t> best;
    const auto distance = [&](const SweepPoint& p) {
        return std::abs(p.context.count() - points[*marked_].context.count());
    };
    // Points stand in the order of strategies, then of contexts.
    for (size_t i = 0; i < points.size(); ++i) {
        if (!pixel_of(i)) continue;
        if (!any) return i;
        const SweepPoint &p = points[i], &from = points[*marked_];
        const bool before = i < *marked_, same = p.strategy == from.strategy;
        if (i == *marked_ || before != (along + across < 0) || same != (along != 0)) continue;
        if (across != 0 && best && p.strategy != points[*best].strategy) {
            if (across > 0) break;  // a strategy further on
            best = i;               // a strategy nearer by
        }
        if (!best || distance(p) < distance(points[*best])) best = i;
    }
    return best;
}

void SweepPanel::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const int along = key == Qt::Key_Right ? 1 : key == Qt::Key_Left ? -1 : 0;
    const int across = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
    if ((key == Qt::Key_Return || key == Qt::Key_Enter) && marked_) {
        Q_EMIT opened(*marked_);
    } else if (along == 0 && across == 0) {
        QChartView::keyPressEvent(event);
    } else if (const std::optional<size_t> to = next_to_mark(along, across)) {
        Q_EMIT picked(*to);
    }
}

void SweepPanel::focusInEvent(QFocusEvent* event) {
    QChartView::focusInEvent(event);
    viewport()->update();
}

void SweepPanel::focusOutEvent(QFocusEvent* event) {
    QChartView::focusOutEvent(event);
    viewport()->update();
}

void SweepPanel::mouseMoveEvent(QMouseEvent* event) {
    const std::optional<size_t> at = point_at(event->position());
    if (!at) return QToolTip::hideText();
    const SweepPoint& p = picture_->points[*at];
    const QStringList lines{
        tr("%1 at %2 tokens: %3")
            .arg(text_of(p.strategy), text_of(format_tokens(p.context)),
                 p.fits ? tr("fits") : tr("does not fit")),
        tr("device %1 of %2").arg(bytes_text(p.need_bytes[0]), bytes_text(p.budget_bytes[0])),
        tr("host %1 of %2").arg(bytes_text(p.need_bytes[1]), bytes_text(p.budget_bytes[1])),
        tr("step %1, %2 tokens/s").arg(time_text(p.step_ns), count_text(std::llround(p.tokens_per_second))),
        tr("double click opens its plan")};
    QToolTip::showText(event->globalPosition().toPoint(), lines.join('\n'), this);
}

}  // namespace headroom::gui
