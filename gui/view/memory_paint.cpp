// How MemoryCanvas looks.
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/model/text.h"
#include "gui/view/memory_canvas.h"

namespace headroom::gui {
namespace {

// Pixels of bytes within a strip; y grows downwards.
double y_of(double bytes, const MemoryCanvas::Scale& scale, const QRect& strip) {
    const double share = (bytes - scale.low_bytes) / (scale.high_bytes - scale.low_bytes);
    return strip.bottom() + 1 - std::clamp(share, 0.0, 1.0) * strip.height();
}

}  // namespace

void MemoryCanvas::paint(QPainter& painter, const TimeAxis& now, const QRect& body) {
    if (!curves_ || curves_->empty() || focus().whole().empty()) {
        painter.setPen(colours().faint_text);
        painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
        return;
    }
    (void)body;
    for (size_t i = 0; i < curves_->size(); ++i) paint_strip(painter, i, now);
}

void MemoryCanvas::paint_strip(QPainter& painter, size_t i, const TimeAxis& now) const {
    paint_title(painter, i);
    paint_bytes(painter, i);
    paint_stack(painter, i, now);
    paint_capacity(painter, i);
    paint_peak(painter, i, now);
}

void MemoryCanvas::paint_stack(QPainter& painter, size_t i, const TimeAxis& now) const {
    const MemoryStrips* strips = drawn_.get();
    if (strips == nullptr) return;
    const MemoryList& list = strips->strips[i];
    const QRect strip = strip_rect(i);
    const Scale scale = scale_of(i);
    const double stretch = strips->axis.ns_per_pixel() / now.ns_per_pixel();
    const double shift = now.x_of(strips->axis.begin_ns) - strips->axis.left * stretch;
    const double left = strip.left(), right = strip.right() + 1;
    std::vector<double> below(list.columns.size(), 0);
    std::vector<QRectF> rects;
    painter.setPen(Qt::NoPen);
    // One colour at a time: a painter that keeps its brush fills ten times as fast.
    for (size_t c = 0; c < list.categories; ++c) {
        rects.clear();
        for (size_t column = 0; column < list.columns.size(); ++column) {
            const auto bytes = static_cast<double>(list.bytes_of(column)[c]);
            const double lower = y_of(below[column], scale, strip),
                         upper = y_of(below[column] + bytes, scale, strip);
            below[column] += bytes;
            if (bytes == 0 || lower - upper < 1e-3) continue;
            const double x0 = std::max(left, list.columns[column].x * stretch + shift);
            const double x1 =
                std::min(right, (list.columns[column].x + list.columns[column].width) * stretch + shift);
            if (x1 <= x0) continue;
            // What looks the same beside each other is one.
            if (!rects.empty() && rects.back().right() >= x0 - 1e-6 && rects.back().top() == upper &&
                rects.back().bottom() == lower) {
                rects.back().setRight(x1);
            } else {
                rects.emplace_back(x0, upper, x1 - x0, lower - upper);
            }
        }
        painter.setBrush(colours().of((*curves_)[i].categories()[c]));
        painter.drawRects(rects.data(), static_cast<int>(rects.size()));
    }
}

void MemoryCanvas::paint_bytes(QPainter& painter, size_t i) const {
    const QRect strip = strip_rect(i);
    const Scale scale = scale_of(i);
    painter.fillRect(strip, colours().panel);
    const double span = scale.high_bytes - scale.low_bytes;
    // A scale that does not begin at 0 has ticks of the same distance.
    const std::vector<Tick> ticks = byte_ticks(static_cast<int64_t>(span), strip.height(), 30);
    const double step = ticks.size() > 1 ? ticks[1].value : span;
    for (double at = std::ceil(scale.low_bytes / step) * step; at <= scale.high_bytes; at += step) {
        const int y = static_cast<int>(std::lround(y_of(at, scale, strip)));
        painter.setPen(colours().grid);
        painter.drawLine(strip.left() - 4, y, strip.right(), y);
        painter.setPen(colours().faint_text);
        painter.drawText(QRect(0, y - 10, strip.left() - 8, 20), Qt::AlignRight | Qt::AlignVCenter,
                         at == 0 ? QString("0") : bytes_text(static_cast<int64_t>(at)));
    }
}

void MemoryCanvas::paint_capacity(QPainter& painter, size_t i) const {
    const int64_t capacity = (*curves_)[i].capacity_bytes();
    const Scale scale = scale_of(i);
    const auto at = static_cast<double>(capacity);
    if (capacity == 0 || at < scale.low_bytes || at > scale.high_bytes) return;
    const QRect strip = strip_rect(i);
    const double y = std::floor(y_of(at, scale, strip));
    painter.setPen(QPen(colours().bad, 2, Qt::DashLine));
    painter.drawLine(QPointF(strip.left(), y), QPointF(strip.right() + 1, y));
}

void MemoryCanvas::paint_peak(QPainter& painter, size_t i, const TimeAxis& now) const {
    const MemoryCurve& curve = (*curves_)[i];
    const size_t peak = curve.peak();
    const int64_t ns = curve.time_ns(peak);
    if (!focus().range().contains(ns)) return;
    const QRect strip = strip_rect(i);
    const QPointF at(now.x_of(ns), y_of(static_cast<double>(curve.total_bytes(peak)), scale_of(i), strip));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colours().background, 1));
    painter.setBrush(colours().text);
    painter.drawPolygon(QPolygonF{at, at + QPointF(-6, -9), at + QPointF(6, -9)});
    painter.setRenderHint(QPainter::Antialiasing, false);
    const QString text = tr("peak %1").arg(bytes_text(curve.total_bytes(peak)));
    const int room = painter.fontMetrics().horizontalAdvance(text) + 10;
    const int height = painter.fontMetrics().height() + 2;
    // Beside the mark, on whichever side has room, below the line of the capacity.
    const bool to_left = at.x() + 10 + room > strip.right();
    const QRectF label(to_left ? at.x() - 10 - room : at.x() + 10,
                       std::max<double>(strip.top() + 2, at.y() - height - 2), room, height);
    QColor ground = colours().background;
    ground.setAlpha(225);
    painter.fillRect(label, ground);
    painter.setPen(colours().text);
    painter.drawText(label, Qt::AlignCenter, text);
}

void MemoryCanvas::paint_title(QPainter& painter, size_t i) const {
    const MemoryCurve& curve = (*curves_)[i];
    const QRect strip = strip_rect(i);
    const QRect line(strip.left(), strip.top() - kTitle_px, strip.width(), kTitle_px);
    QFont bold = painter.font();
    bold.setBold(true);
    const QFont plain = painter.font();
    painter.setFont(bold);
    painter.setPen(colours().text);
    const QString name = label_of(curve.tier());
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, name);
    const int after = painter.fontMetrics().horizontalAdvance(name) + 12;
    painter.setFont(plain);
    const int64_t most = curve.total_bytes(curve.peak()), capacity = curve.capacity_bytes();
    QString text =
        tr("peak of live bytes %1 at %2").arg(bytes_text(most), instant_text(curve.time_ns(curve.peak())));
    if (capacity > 0)
        text += most <= capacity
                    ? tr(", headroom %1 of %2").arg(bytes_text(capacity - most), bytes_text(capacity))
                    : tr(", %1 more than the budget of %2")
                          .arg(bytes_text(most - capacity), bytes_text(capacity));
    painter.setPen(capacity > 0 && most > capacity ? colours().bad : colours().faint_text);
    painter.drawText(line.adjusted(after, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
}

}  // namespace headroom::gui
