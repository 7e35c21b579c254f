#include "gui/view/memory_canvas.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr int kBetween_px = 10;
constexpr double kAbove = 1.06;  // room above the capacity or the peak

}  // namespace

MemoryCanvas::MemoryCanvas(Focus& focus, QWidget* parent)
    : TimeCanvas(focus, parent), drawn_([this] { update(); }) {
    setAccessibleName(tr("Live bytes of each tier over the step"));
    setAccessibleDescription(tr("Left and right arrow move the cursor from change to change"));
    set_margins(kScale_px, 12);
    set_body([this](QPainter& p, const TimeAxis& axis, const QRect& body) { paint(p, axis, body); });
    set_selection_range([this]() -> std::optional<TimeRange> {
        const OpId op = this->focus().selected();
        if (!step_ || op >= step_->timeline.ops.size()) return std::nullopt;
        return TimeRange{step_->timeline.ops[op].start_ns, step_->timeline.ops[op].end_ns};
    });
    connect(this, &TimeCanvas::view_changed, this, &MemoryCanvas::want_strips);
    connect(this, &TimeCanvas::stepped, this, &MemoryCanvas::step_along);
    connect(this, &TimeCanvas::clicked, this, [this](QPoint at) {
        if (!step_) return;
        const int64_t ns = axis().ns_at(at.x());
        this->focus().select(running_at(step_->timeline, step_->index.of(Stream::compute), ns));
    });
}

void MemoryCanvas::set_curves(StepPtr step, std::shared_ptr<const MemoryCurves> curves) {
    step_ = std::move(step);
    curves_ = std::move(curves);
    drawn_.clear();
    want_strips();
    update();
}

void MemoryCanvas::set_near_bytes(bool near) {
    near_ = near;
    update();
}

void MemoryCanvas::set_empty_text(const QString& text) {
    empty_text_ = text;
    update();
}

std::function<MemoryStrips()> MemoryCanvas::maker() const {
    return [curves = curves_, axis = axis(), density = devicePixelRatioF()] {
        MemoryStrips made{axis, {}};
        for (const MemoryCurve& curve : *curves) made.strips.push_back(list_of(curve, axis, density));
        return made;
    };
}

void MemoryCanvas::want_strips() {
    if (curves_ && !focus().range().empty()) drawn_.want(maker());
}

void MemoryCanvas::make_strips_now() {
    if (curves_ && !focus().range().empty()) drawn_.make_now(maker());
}

QRect MemoryCanvas::strip_rect(size_t i) const {
    // The device, which binds most often, has two shares of the height.
    const QRect b = body();
    const int shares = static_cast<int>(curves_->size()) + 1;
    const int before = i == 0 ? 0 : static_cast<int>(i) + 1, after = static_cast<int>(i) + 2;
    const int top = b.top() + b.height() * before / shares, bottom = b.top() + b.height() * after / shares;
    return {b.left(), top + kTitle_px, b.width(), std::max(8, bottom - top - kTitle_px - kBetween_px)};
}

MemoryCanvas::Scale MemoryCanvas::scale_of(size_t i) const {
    const MemoryCurve& curve = (*curves_)[i];
    const MemoryStrips* strips = drawn_.get();
    if (near_ && strips != nullptr && !strips->strips[i].columns.empty()) {
        const auto& columns = strips->strips[i].columns;
        const auto [least, most] = std::minmax_element(
            columns.begin(), columns.end(),
            [](const MemoryColumn& a, const MemoryColumn& b) { return a.total_bytes < b.total_bytes; });
        const auto low = static_cast<double>(least->total_bytes),
                   high = static_cast<double>(most->total_bytes);
        // A flat curve lies in the middle of a KiB.
        const double beside = std::max(512.0, (high - low) * 0.08);
        return {std::max(0.0, low - beside), high + beside};
    }
    const int64_t most = std::max(curve.capacity_bytes(), curve.total_bytes(curve.peak()));
    return {0, std::max(1.0, static_cast<double>(most) * kAbove)};
}

void MemoryCanvas::step_along(int by) {
    if (!curves_ || curves_->empty() || focus().range().empty()) return;
    const int64_t from = focus().cursor_ns().value_or(focus().range().begin_ns);
    std::optional<int64_t> next;
    for (const MemoryCurve& curve : *curves_) {
        size_t at = curve.instant_at(from);
        if (by > 0) {
            at = at == MemoryCurve::kBefore ? 0 : at + 1;
            if (at >= curve.size()) continue;
        } else {
            if (at != MemoryCurve::kBefore && curve.time_ns(at) == from)
                at = at == 0 ? MemoryCurve::kBefore : at - 1;
            if (at == MemoryCurve::kBefore) continue;
        }
        const int64_t ns = curve.time_ns(at);
        if (!next || (by > 0 ? ns < *next : ns > *next)) next = ns;
    }
    if (!next) return;
    focus().reveal(*next, *next + 1);
    focus().set_cursor(*next);
}

}  // namespace headroom::gui
