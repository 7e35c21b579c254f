#include "gui/view/streams_canvas.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/model/stalls.h"
#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr int kBetween_px = 6;  // lanes
constexpr double kNear_px = 3;  // a click that misses an op by less hits it

}  // namespace

StreamsCanvas::StreamsCanvas(Focus& focus, QWidget* parent)
    : TimeCanvas(focus, parent), drawn_([this] { update(); }) {
    setAccessibleName(tr("Lanes of the step's streams"));
    setAccessibleDescription(tr("Arrows step from op to op and from lane to lane"));
    set_margins(kNames_px, 0, kLegend_px);
    set_body([this](QPainter& p, const TimeAxis& axis, const QRect& body) { paint(p, axis, body); });
    set_selection_range([this]() -> std::optional<TimeRange> {
        const OpId op = this->focus().selected();
        if (!step_ || op >= step_->timeline.ops.size()) return std::nullopt;
        return TimeRange{step_->timeline.ops[op].start_ns, step_->timeline.ops[op].end_ns};
    });
    connect(this, &TimeCanvas::view_changed, this, &StreamsCanvas::want_list);
    connect(this, &TimeCanvas::stepped, this, &StreamsCanvas::step_along);
    connect(this, &TimeCanvas::lane_stepped, this, &StreamsCanvas::step_lane);
    connect(this, &TimeCanvas::clicked, this, [this](QPoint at) {
        const OpId op = op_at(at);
        this->focus().select(op != kNone ? op : stall_at(at));
    });
    connect(this, &TimeCanvas::double_clicked, this, [this](QPoint at) {
        if (op_at(at) != kNone) fit();
    });
}

void StreamsCanvas::set_lanes(StepPtr step, std::shared_ptr<const Lanes> lanes) {
    step_ = std::move(step);
    lanes_ = std::move(lanes);
    hits_ = nullptr;
    drawn_.clear();
    want_list();
    update();
}

void StreamsCanvas::set_hits(std::shared_ptr<const Hits> hits) {
    hits_ = std::move(hits);
    want_list();
}

void StreamsCanvas::set_shows_critical(bool shows) {
    shows_critical_ = shows;
    update();
}

void StreamsCanvas::set_shows_stalls(bool shows) {
    shows_stalls_ = shows;
    update();
}

void StreamsCanvas::set_empty_text(const QString& text) {
    empty_text_ = text;
    update();
}

std::function<StreamsList()> StreamsCanvas::maker() const {
    return [lanes = lanes_, hits = hits_, axis = axis()] {
        return list_of(*lanes, hits ? &hits->of_stream : nullptr, axis);
    };
}

void StreamsCanvas::want_list() {
    if (lanes_ && !focus().range().empty()) drawn_.want(maker());
}

void StreamsCanvas::make_list_now() {
    if (lanes_ && !focus().range().empty()) drawn_.make_now(maker());
}

QRect StreamsCanvas::lane_rect(size_t lane) const {
    const QRect b = body();
    // Compute has two shares of the height.
    const bool compute_first = !lanes_->lanes.empty() && lanes_->lanes[0].stream == Stream::compute;
    const auto shares = static_cast<int>(lanes_->lanes.size()) + (compute_first ? 1 : 0);
    const int room = b.height();
    const int before = static_cast<int>(lane) + (compute_first && lane > 0 ? 1 : 0);
    const int after = static_cast<int>(lane) + 1 + (compute_first ? 1 : 0);
    const int top = b.top() + room * before / shares, bottom = b.top() + room * after / shares;
    return {b.left(), top + kBetween_px / 2, b.width(), std::max(4, bottom - top - kBetween_px)};
}

size_t StreamsCanvas::lane_at(int y) const {
    for (size_t i = 0; lanes_ && i < lanes_->lanes.size(); ++i) {
        const QRect r = lane_rect(i);
        if (y >= r.top() && y <= r.bottom()) return i;
    }
    return lanes_ ? lanes_->lanes.size() : 0;
}

OpId StreamsCanvas::op_at(QPoint at) const {
    const size_t lane = lane_at(at.y());
    if (!lanes_ || lane == lanes_->lanes.size() || at.x() < body().left()) return kNone;
    const TimeAxis now = axis();
    return nearest_op(step_->timeline, lanes_->lanes[lane].ops, now.ns_at(at.x()),
                      static_cast<int64_t>(kNear_px * now.ns_per_pixel()));
}

OpId StreamsCanvas::stall_at(QPoint at) const {
    const size_t lane = lane_at(at.y());
    if (!lanes_ || lane == lanes_->lanes.size() || at.x() < body().left()) return kNone;
    const Lane& of = lanes_->lanes[lane];
    if (of.stream != Stream::compute) return kNone;
    const int64_t ns = axis().ns_at(at.x());
    const size_t next = first_ending_after(step_->timeline, of.ops, ns);
    return next < of.ops.size() && of.op(next).start_ns > ns ? of.ops[next] : kNone;
}

void StreamsCanvas::select(OpId op) {
    if (!step_ || op >= step_->timeline.ops.size()) return;
    focus().reveal(step_->timeline.ops[op].start_ns, step_->timeline.ops[op].end_ns);
    focus().select(op);
}

void StreamsCanvas::step_along(int by) {
    if (!lanes_ || lanes_->lanes.empty()) return;
    const OpId selected = focus().selected();
    if (selected != kNone) {
        const OpId next = neighbour(step_->timeline, step_->index, selected, by);
        if (next != kNone) select(next);
        return;
    }
    // None yet: the first of compute (or of the first lane) in view, or the last.
    const Lane& lane = lanes_->lanes[0];
    const int64_t ns = by > 0 ? focus().range().begin_ns : focus().range().end_ns - 1;
    select(nearest_op(step_->timeline, lane.ops, ns, step_->duration_ns()));
}

void StreamsCanvas::step_lane(int by) {
    if (!lanes_ || lanes_->lanes.empty()) return;
    const OpId selected = focus().selected();
    if (selected == kNone) return step_along(1);
    const TimelineOp& op = step_->timeline.ops[selected];
    const size_t from = lanes_->place_of(op.stream);
    const size_t to = by > 0 ? from + 1 : from - 1;
    if (to >= lanes_->lanes.size()) return;
    select(nearest_op(step_->timeline, lanes_->lanes[to].ops, op.start_ns, step_->duration_ns()));
}

QString StreamsCanvas::tip_at(QPoint at) const {
    const OpId id = op_at(at);
    if (id != kNone) {
        const TimelineOp& op = step_->timeline.ops[id];
        QString tip = tr("%1\n%2 pass, starts at %3, takes %4")
                          .arg(op_text(op), label_of(op.pass), instant_text(op.start_ns),
                               time_text(op.end_ns - op.start_ns));
        if (op.bytes > 0)
            tip += tr("\n%1, %2").arg(bytes_text(op.bytes), rate_text(op.bytes, op.end_ns - op.start_ns));
        return tip;
    }
    const OpId after = stall_at(at);
    if (after == kNone) return {};
    const Stall stall = stall_before(*step_, after);
    return tr("Stall of %1:\n%2").arg(time_text(stall.length_ns()), explanation(*step_, stall));
}

bool StreamsCanvas::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString tip = lanes_ ? tip_at(help->pos()) : QString();
        if (tip.isEmpty()) {
            QToolTip::hideText();
        } else {
            QToolTip::showText(help->globalPos(), tip, this);
        }
        return true;
    }
    return TimeCanvas::event(event);
}

}  // namespace headroom::gui
