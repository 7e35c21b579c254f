// How StreamsCanvas looks.
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "gui/model/stalls.h"
#include "gui/model/text.h"
#include "gui/view/lane_paint.h"
#include "gui/view/streams_canvas.h"

namespace headroom::gui {
namespace {

constexpr double kLabelled_px = 56;  // narrower gaps say nothing
constexpr int kPath_px = 3;          // height of the line of the critical path
constexpr int kHit_px = 4;
constexpr size_t kMostDependencies = 200;

}  // namespace

void StreamsCanvas::paint(QPainter& painter, const TimeAxis& now, const QRect& body) {
    if (!lanes_ || lanes_->lanes.empty() || focus().whole().empty()) {
        painter.setPen(colours().faint_text);
        painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
        return;
    }
    for (size_t lane = 0; lane < lanes_->lanes.size(); ++lane) {
        paint_lane(painter, lane, now);
        paint_name(painter, lane);
    }
    painter.save();
    painter.setClipRect(body);
    paint_selection(painter, now);
    painter.restore();
    paint_legend(painter);
}

void StreamsCanvas::paint_lane(QPainter& painter, size_t lane, const TimeAxis& now) const {
    const QRect row = lane_rect(lane);
    painter.fillRect(row, colours().panel);
    const StreamsList* list = drawn_.get();
    if (list == nullptr) return;
    const Stretch stretch(list->axis, now);
    const LaneList& of = list->lanes[lane];
    paint_bins(painter, of, stretch, row, colours());
    for (const Slice& slice : of.slices) {
        paint_slice(painter, slice, stretch.rect(slice.extent, row), row, colours(),
                    [&] { return op_text(step_->timeline.ops[slice.op]); });
    }
    if (of.stream == Stream::compute && shows_stalls_) {
        for (const Gap& gap : of.gaps) paint_gap(painter, gap, stretch.rect(gap.extent, row));
    }
    if (shows_critical_) {
        for (const Extent& extent : list->critical[lane]) {
            QRectF r = stretch.rect(extent, row);
            r.setTop(row.bottom() + 1);
            r.setHeight(kPath_px);
            painter.fillRect(r, colours().text);
        }
    }
    for (const Extent& extent : list->hits[lane]) {
        QRectF r = stretch.rect(extent, row);
        r.setHeight(kHit_px);
        painter.fillRect(r, colours().selection);
    }
}

void StreamsCanvas::paint_gap(QPainter& painter, const Gap& gap, const QRectF& rect) const {
    QColor line = colours().warning;
    line.setAlpha(150);
    painter.fillRect(rect, QBrush(line, Qt::BDiagPattern));
    const QFontMetrics metrics = painter.fontMetrics();
    if (rect.width() < kLabelled_px || rect.height() < metrics.height()) return;
    const Stall stall = stall_before(*step_, gap.after);
    QString text = time_text(stall.length_ns());
    const double room = rect.width() - 12;
    if (metrics.horizontalAdvance(text) > room) return;
    const QString all = text + ": " + explanation(*step_, stall);
    if (metrics.horizontalAdvance(all) <= room) text = all;
    // Letters on hatching are hard to read: a ground of their own.
    const int width = metrics.horizontalAdvance(text) + 8;
    const QRectF label(rect.center().x() - width / 2.0, rect.center().y() - metrics.height() / 2.0, width,
                       metrics.height());
    painter.fillRect(label, colours().panel);
    painter.setPen(colours().warning);
    painter.drawText(label, Qt::AlignCenter, text);
}

void StreamsCanvas::paint_name(QPainter& painter, size_t lane) const {
    const QRect row = lane_rect(lane);
    const QRect name(8, row.top(), kNames_px - 16, row.height());
    const Stream stream = lanes_->lanes[lane].stream;
    painter.fillRect(QRect(0, row.top(), 4, row.height()), colours().of(stream));
    QString busy;
    if (const StreamsList* list = drawn_.get(); list != nullptr && list->axis.end_ns > list->axis.begin_ns) {
        int64_t sum = 0;
        for (const int64_t ns : list->lanes[lane].busy_ns) sum += ns;
        busy = tr("%1 busy").arg(percent_text(static_cast<double>(sum) /
                                              static_cast<double>(list->axis.end_ns - list->axis.begin_ns)));
    }
    const int line = painter.fontMetrics().height();
    const bool two = row.height() >= 2 * line;
    painter.setPen(colours().text);
    const int top = two ? row.center().y() - line : row.center().y() - line / 2;
    painter.drawText(QRect(name.left(), top, name.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                     label_of(stream));
    if (!two) return;
    painter.setPen(colours().faint_text);
    painter.drawText(QRect(name.left(), top + line, name.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                     busy);
}

void StreamsCanvas::paint_selection(QPainter& painter, const TimeAxis& now) const {
    const OpId selected = focus().selected();
    if (selected >= step_->timeline.ops.size()) return;
    painter.setRenderHint(QPainter::Antialiasing);
    const auto draw_all = [&](std::span<const OpId> ops, bool waits) {
        for (const OpId other : ops.first(std::min(ops.size(), kMostDependencies)))
            waits ? paint_dependency(painter, now, other, selected)
                  : paint_dependency(painter, now, selected, other);
    };
    draw_all(waits_of(step_->timeline, selected), true);
    draw_all(step_->index.waiters_of(selected), false);
    painter.setRenderHint(QPainter::Antialiasing, false);
    const TimelineOp& op = step_->timeline.ops[selected];
    const QRect row = lane_rect(lanes_->place_of(op.stream));
    const double x0 = std::max(now.x_of(op.start_ns), now.left - 8);
    const double x1 = std::min(now.x_of(op.end_ns), now.left + now.width + 8);
    if (x1 < now.left || x0 > now.left + now.width) return;
    painter.setPen(QPen(colours().selection, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(x0, row.top(), std::max(2.0, x1 - x0), row.height() - 1));
}

void StreamsCanvas::paint_dependency(QPainter& painter, const TimeAxis& now, OpId from, OpId to) const {
    const TimelineOp &first = step_->timeline.ops[from], &then = step_->timeline.ops[to];
    // Lines to far away leave the picture in the right direction; farther means nothing to a painter.
    constexpr double kFar_px = 4000;
    const auto x_of = [&](int64_t ns) {
        return std::clamp(now.x_of(ns), now.left - kFar_px, now.left + now.width + kFar_px);
    };
    const QRect row = lane_rect(lanes_->place_of(first.stream)),
                next = lane_rect(lanes_->place_of(then.stream));
    const QPointF a(x_of(first.end_ns), row.center().y()), b(x_of(then.start_ns), next.center().y());
    const double bend = std::clamp((b.x() - a.x()) / 2, 12.0, 120.0);
    QPainterPath path(a);
    path.cubicTo(a + QPointF(bend, 0), b - QPointF(bend, 0), b);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colours().background, 4));
    painter.drawPath(path);
    painter.setPen(QPen(colours().selection, 1.6));
    painter.drawPath(path);
    painter.setBrush(colours().selection);
    painter.setPen(Qt::NoPen);
    painter.drawPolygon(QPolygonF{b, b + QPointF(-7, -4), b + QPointF(-7, 4)});
}

void StreamsCanvas::paint_legend(QPainter& painter) const {
    const StreamsList* list = drawn_.get();
    if (list == nullptr) return;
    constexpr int kSwatch_px = 11, kApart_px = 18;
    const QRect line(8, body().bottom() + 1, width() - 16, kLegend_px);
    int64_t sum = 0;
    for (const KindShare& share : list->kinds) sum += share.busy_ns;
    const QFontMetrics metrics = painter.fontMetrics();
    int x = line.left();
    for (size_t i = 0; i < list->kinds.size(); ++i) {
        const KindShare& share = list->kinds[i];
        const QString text = label_of(share.kind) + " " +
                             percent_text(static_cast<double>(share.busy_ns) / static_cast<double>(sum));
        const QString more = tr("and %1 more").arg(list->kinds.size() - i);
        const bool last = i + 1 == list->kinds.size();
        const int room = kSwatch_px + 5 + metrics.horizontalAdvance(text);
        const int rest = last ? 0 : kApart_px + metrics.horizontalAdvance(more);
        if (x + room + rest > line.right()) {
            painter.setPen(colours().faint_text);
            painter.drawText(QRect(x, line.top(), line.right() - x, line.height()), Qt::AlignVCenter, more);
            return;
        }
        painter.fillRect(QRect(x, line.center().y() - kSwatch_px / 2, kSwatch_px, kSwatch_px),
                         colours().of(share.kind));
        painter.setPen(colours().text);
        painter.drawText(QRect(x + kSwatch_px + 5, line.top(), room, line.height()), Qt::AlignVCenter, text);
        x += room + kApart_px;
    }
}

}  // namespace headroom::gui
