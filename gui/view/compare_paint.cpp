// How CompareCanvas looks.
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/model/text.h"
#include "gui/view/compare_canvas.h"
#include "gui/view/lane_paint.h"

namespace headroom::gui {

void CompareCanvas::paint(QPainter& painter, const TimeAxis& now, const QRect& body) {
    if (!tracks_) return;
    for (const Stream stream : streams_) paint_stream(painter, stream, now);
    for (size_t tier = 0; tier < tracks_->predicted_memory.size(); ++tier) paint_strip(painter, tier, now);
    painter.save();
    painter.setClipRect(body);
    paint_selection(painter, now);
    painter.restore();
}

void CompareCanvas::paint_stream(QPainter& painter, Stream stream, const TimeAxis& now) {
    const QRect upper = lane_rect(stream, false), lower = lane_rect(stream, true);
    const QRect names(8, upper.top(), kNames_px - 14, lower.bottom() - upper.top());
    painter.setPen(colours().text);
    const QFontMetrics metrics = painter.fontMetrics();
    const int half = names.width() / 2;
    painter.drawText(QRect(names.left(), names.top(), half + 8, names.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, label_of(stream));
    for (const bool measured : {false, true}) {
        const QRect row = measured ? lower : upper;
        painter.fillRect(row, colours().panel);
        // Which of the two: a mark of its colour, and its word where there is room.
        const QColor colour = measured ? colours().measured : colours().predicted;
        painter.fillRect(QRect(row.left() - 6, row.top(), 4, row.height()), colour);
        if (row.height() + 2 >= metrics.height()) {
            painter.setPen(colour);
            painter.drawText(
                QRect(names.left() + half - 8, row.top() - 1, names.width() - half, row.height() + 2),
                Qt::AlignRight | Qt::AlignVCenter, measured ? tr("meas.") : tr("pred."));
        }
        const CompareList* list = drawn_.get();
        const Lanes& lanes = measured ? tracks_->measured : tracks_->predicted;
        const size_t place = lanes.place_of(stream);
        if (list == nullptr || place == lanes.lanes.size()) continue;
        paint_lane(painter, (measured ? list->measured : list->predicted).lanes[place],
                   measured ? *comparison_->measured : *comparison_->predicted, row, now);
    }
}

void CompareCanvas::paint_lane(QPainter& painter, const LaneList& list, const Step& of, const QRect& row,
                               const TimeAxis& now) const {
    const Stretch stretch(drawn_.get()->axis, now);
    paint_bins(painter, list, stretch, row, colours());
    for (const Slice& slice : list.slices) {
        paint_slice(painter, slice, stretch.rect(slice.extent, row), row, colours(),
                    [&] { return op_text(of.timeline.ops[slice.op]); });
    }
}

// The op framed in both lanes, and how far it moved.
void CompareCanvas::paint_selection(QPainter& painter, const TimeAxis& now) const {
    const OpId selected = focus().selected();
    if (selected >= comparison_->measured->timeline.ops.size()) return;
    const auto frame = [&](const Step& step, bool measured) {
        const TimelineOp& op = step.timeline.ops[selected];
        const QRect row = lane_rect(op.stream, measured);
        constexpr double kFar_px = 4000;
        const double left = std::clamp(now.x_of(op.start_ns), -kFar_px, now.left + now.width + kFar_px);
        const double right = std::clamp(now.x_of(op.end_ns), -kFar_px, now.left + now.width + kFar_px);
        return QRectF(left, row.top(), std::max(2.0, right - left), row.height());
    };
    const QRectF predicted = frame(*comparison_->predicted, false),
                 measured = frame(*comparison_->measured, true);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colours().selection, 1.5));
    painter.drawLine(predicted.bottomLeft(), measured.topLeft());
    painter.drawLine(predicted.bottomRight(), measured.topRight());
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(QPen(colours().selection, 2));
    painter.drawRect(predicted);
    painter.drawRect(measured);
}

CompareCanvas::Scale CompareCanvas::scale_of(size_t tier) const {
    const CompareList* list = drawn_.get();
    if (list == nullptr || tier >= list->most_bytes.size()) return {};
    const auto low = static_cast<double>(list->least_bytes[tier]);
    const auto high = static_cast<double>(list->most_bytes[tier]);
    return {low, high + 0.06 * (high - low) + 1};
}

double CompareCanvas::Scale::y_of(double bytes, const QRect& strip) const {
    return strip.bottom() - (bytes - low_bytes) / (high_bytes - low_bytes) * strip.height();
}

void CompareCanvas::paint_strip(QPainter& painter, size_t tier, const TimeAxis& now) {
    const QRect strip = strip_rect(tier);
    const MemoryCurve& p = tracks_->predicted_memory[tier];
    const MemoryCurve& m = tracks_->measured_memory[tier];
    const CompareList* list = drawn_.get();
    painter.fillRect(strip, colours().panel);
    QString title = tr("%1 memory").arg(label_of(p.tier()));
    if (category_ != Category::count_) title += ", " + label_of(category_);
    QFont bold = painter.font(), plain = bold;
    bold.setBold(true);
    const QRect line(strip.left(), strip.top() - kTitle_px, strip.width(), kTitle_px);
    painter.setFont(bold);
    painter.setPen(colours().text);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, title);
    int x = line.left() + painter.fontMetrics().horizontalAdvance(title) + 14;
    painter.setFont(plain);
    for (const bool measured : {false, true}) {
        const MemoryCurve& curve = measured ? m : p;
        const QString peak = bytes_text(curve.total_bytes(curve.peak()));
        const QString words =
            measured ? tr("measured, peak %1").arg(peak) : tr("predicted, peak %1").arg(peak);
        const int y = line.center().y() + 1;
        painter.setPen(measured ? QPen(colours().measured, 3) : QPen(colours().predicted, 1));
        painter.drawLine(x, y, x + 24, y);
        painter.setPen(colours().faint_text);
        painter.drawText(QRect(x + 30, line.top(), line.right() - x - 30, line.height()),
                         Qt::AlignLeft | Qt::AlignVCenter, words);
        x += 30 + painter.fontMetrics().horizontalAdvance(words) + 18;
    }
    if (list == nullptr || tier >= list->most_bytes.size()) return;
    const Scale scale = scale_of(tier);
    const double span = scale.high_bytes - scale.low_bytes;
    const std::vector<Tick> ticks = byte_ticks(static_cast<int64_t>(span), strip.height());
    const double apart = ticks.size() > 1 ? ticks[1].value : span;
    for (double at = std::ceil(scale.low_bytes / apart) * apart; at <= scale.high_bytes; at += apart) {
        const int y = static_cast<int>(std::lround(scale.y_of(at, strip)));
        painter.setPen(colours().grid);
        painter.drawLine(strip.left() - 4, y, strip.right(), y);
        painter.setPen(colours().faint_text);
        painter.drawText(QRect(0, y - 10, strip.left() - 8, 20), Qt::AlignRight | Qt::AlignVCenter,
                         at == 0 ? QString("0") : bytes_text(static_cast<int64_t>(at)));
    }
    painter.save();
    painter.setClipRect(strip.adjusted(0, -1, 0, 1));
    painter.setPen(QPen(colours().measured, 3));
    paint_curve(painter, list->measured_memory[tier], scale, strip, now);
    painter.setPen(QPen(colours().predicted, 1));
    paint_curve(painter, list->predicted_memory[tier], scale, strip, now);
    painter.restore();
}

void CompareCanvas::paint_curve(QPainter& painter, const std::vector<StepPoint>& steps, const Scale& scale,
                                const QRect& strip, const TimeAxis& now) const {
    if (steps.empty()) return;
    const Stretch stretch(drawn_.get()->axis, now);
    QPainterPath path;
    double before = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
        const double x = stretch.x(steps[i].x);
        const double y = scale.y_of(static_cast<double>(steps[i].bytes), strip);
        if (i == 0) {
            path.moveTo(x, y);
        } else {
            path.lineTo(x, before);
            path.lineTo(x, y);
        }
        before = y;
    }
    path.lineTo(strip.right() + 1, before);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
}

}  // namespace headroom::gui
