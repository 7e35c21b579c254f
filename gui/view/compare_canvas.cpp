#include "gui/view/compare_canvas.h"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr int kBetween_px = 7;  // streams
constexpr int kLeastLane_px = 6, kMostLane_px = 26;
constexpr double kNear_px = 3;  // a click that misses an op by less hits it

}  // namespace

CompareCanvas::CompareCanvas(Focus& focus, QWidget* parent)
    : TimeCanvas(focus, parent), drawn_([this] { update(); }) {
    setAccessibleName(tr("Predicted and measured on one axis of time"));
    setAccessibleDescription(tr("Left and right arrow step from op to op of a stream"));
    setMinimumHeight(200);
    set_margins(kNames_px, 8);
    set_body([this](QPainter& p, const TimeAxis& axis, const QRect& body) { paint(p, axis, body); });
    set_selection_range([this]() -> std::optional<TimeRange> {
        const OpId op = this->focus().selected();
        if (!comparison_ || op >= comparison_->measured->timeline.ops.size()) return std::nullopt;
        const TimelineOp& p = comparison_->predicted->timeline.ops[op];
        const TimelineOp& m = comparison_->measured->timeline.ops[op];
        return TimeRange{std::min(p.start_ns, m.start_ns), std::max(p.end_ns, m.end_ns)};
    });
    connect(this, &TimeCanvas::view_changed, this, &CompareCanvas::want_list);
    connect(this, &TimeCanvas::stepped, this, &CompareCanvas::step_along);
    connect(this, &TimeCanvas::clicked, this, [this](QPoint at) { this->focus().select(op_at(at)); });
    connect(this, &TimeCanvas::double_clicked, this, [this](QPoint at) {
        if (op_at(at) != kNone) fit();
    });
    connect(&focus, &Focus::selected_changed, this, qOverload<>(&QWidget::update));
}

void CompareCanvas::set(ComparisonPtr comparison, std::shared_ptr<const CompareTracks> tracks) {
    comparison_ = std::move(comparison);
    tracks_ = std::move(tracks);
    streams_ = tracks_ ? tracks_->streams() : std::vector<Stream>{};
    drawn_.clear();
    want_list();
    update();
}

void CompareCanvas::set_category(Category category) {
    category_ = category;
    want_list();
}

std::function<CompareList()> CompareCanvas::maker() const {
    return
        [tracks = tracks_, category = category_, axis = axis()] { return list_of(*tracks, category, axis); };
}

void CompareCanvas::want_list() {
    if (tracks_ && !focus().range().empty()) drawn_.want(maker());
}

void CompareCanvas::make_list_now() {
    if (tracks_ && !focus().range().empty()) drawn_.make_now(maker());
}

// Lanes have some half of the height, strips of memory the rest.
int CompareCanvas::lane_height() const {
    const int streams = std::max(1, static_cast<int>(streams_.size()));
    return std::clamp((body().height() * 11 / 20 / streams - kBetween_px) / 2, kLeastLane_px, kMostLane_px);
}

int CompareCanvas::lanes_height() const {
    return static_cast<int>(streams_.size()) * (2 * lane_height() + kBetween_px);
}

QRect CompareCanvas::lane_rect(Stream stream, bool measured) const {
    const auto at = std::find(streams_.begin(), streams_.end(), stream);
    if (at == streams_.end()) return {};
    const int height = lane_height(), row = static_cast<int>(at - streams_.begin());
    const int top = body().top() + 2 + row * (2 * height + kBetween_px) + (measured ? height : 0);
    return {body().left(), top, body().width(), height - 1};
}

QRect CompareCanvas::strip_rect(size_t tier) const {
    const auto tiers = static_cast<int>(tracks_ ? tracks_->predicted_memory.size() : 0);
    if (static_cast<int>(tier) >= tiers) return {};
    const int top = body().top() + lanes_height(), room = body().bottom() - 4 - top;
    const int each = room / tiers, first = top + static_cast<int>(tier) * each;
    return {body().left(), first + kTitle_px, body().width(), std::max(8, each - kTitle_px - 4)};
}

OpId CompareCanvas::op_at(QPoint at) const {
    if (!tracks_ || at.x() < body().left()) return kNone;
    const TimeAxis now = axis();
    for (const Stream stream : streams_) {
        for (const bool measured : {false, true}) {
            const QRect row = lane_rect(stream, measured);
            if (at.y() < row.top() || at.y() > row.bottom()) continue;
            const Lanes& lanes = measured ? tracks_->measured : tracks_->predicted;
            const size_t place = lanes.place_of(stream);
            if (place == lanes.lanes.size()) return kNone;
            return nearest_op(*lanes.timeline, lanes.lanes[place].ops, now.ns_at(at.x()),
                              static_cast<int64_t>(kNear_px * now.ns_per_pixel()));
        }
    }
    return kNone;
}

void CompareCanvas::step_along(int by) {
    const OpId op = focus().selected();
    if (!comparison_ || op >= comparison_->measured->timeline.ops.size()) return;
    const Step& step = *comparison_->measured;
    const OpId next = neighbour(step.timeline, step.index, op, by);
    if (next == kNone) return;
    focus().select(next);
    focus().reveal(step.timeline.ops[next].start_ns, step.timeline.ops[next].end_ns);
}

bool CompareCanvas::event(QEvent* e) {
    if (e->type() != QEvent::ToolTip) return TimeCanvas::event(e);
    const auto* help = static_cast<QHelpEvent*>(e);
    const OpId op = op_at(help->pos());
    if (op == kNone) {
        QToolTip::hideText();
    } else {
        QToolTip::showText(help->globalPos(), op_difference_text(*comparison_, op), this);
    }
    return true;
}

}  // namespace headroom::gui
