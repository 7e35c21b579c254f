#include "gui/model/focus.h"

#include <QElapsedTimer>
#include <algorithm>
#include <cmath>

namespace headroom::gui {
namespace {

qint64 now_ms() {
    static const QElapsedTimer since_start = [] {
        QElapsedTimer t;
        t.start();
        return t;
    }();
    return since_start.elapsed();
}

constexpr size_t kHistory = 100;

}  // namespace

Focus::Focus(QObject* parent) : QObject(parent) {}

void Focus::reset(int64_t duration_ns) {
    duration_ns_ = std::max<int64_t>(0, duration_ns);
    back_.clear();
    forward_.clear();
    last_change_ms_ = 0;
    range_ = whole();
    marked_ = std::nullopt;
    selected_ = kNone;
    cursor_ns_ = std::nullopt;
    Q_EMIT range_changed();
    Q_EMIT marked_changed();
    Q_EMIT selected_changed();
    Q_EMIT cursor_changed();
}

TimeRange Focus::clamped(TimeRange r) const {
    if (r.end_ns < r.begin_ns) std::swap(r.begin_ns, r.end_ns);
    const int64_t shortest = std::min(kShortest_ns, duration_ns_);
    const int64_t length = std::clamp(r.length_ns(), shortest, duration_ns_);
    const int64_t centre = r.begin_ns + r.length_ns() / 2;
    const int64_t begin = r.length_ns() == length ? r.begin_ns : centre - length / 2;
    const int64_t first = std::clamp<int64_t>(begin, 0, duration_ns_ - length);
    return {first, first + length};
}

void Focus::apply(TimeRange range) {
    if (range == range_) return;
    range_ = range;
    Q_EMIT range_changed();
}

void Focus::set_range(TimeRange range) {
    const TimeRange to = clamped(range);
    if (to == range_) return;
    const qint64 now = now_ms();
    if (back_.empty() || now - last_change_ms_ > kTogether_ms) {
        back_.push_back(range_);
        if (back_.size() > kHistory) back_.erase(back_.begin());
    }
    last_change_ms_ = now;
    forward_.clear();
    apply(to);
}

void Focus::zoom(double factor, int64_t at_ns) {
    if (!(factor > 0) || range_.empty()) return;
    const double before = static_cast<double>(range_.length_ns());
    const double longest = static_cast<double>(duration_ns_), shortest = static_cast<double>(kShortest_ns);
    const double length = std::clamp(before * factor, std::min(shortest, longest), longest);
    const double share = static_cast<double>(at_ns - range_.begin_ns) / before;
    const auto begin = static_cast<int64_t>(std::llround(static_cast<double>(at_ns) - share * length));
    set_range({begin, begin + static_cast<int64_t>(std::llround(length))});
}

void Focus::pan(int64_t by_ns) {
    const int64_t begin = std::clamp<int64_t>(range_.begin_ns + by_ns, 0, duration_ns_ - range_.length_ns());
    set_range({begin, begin + range_.length_ns()});
}

void Focus::reveal(int64_t begin_ns, int64_t end_ns) {
    if (begin_ns >= range_.begin_ns && end_ns <= range_.end_ns) return;
    const int64_t length = std::max(range_.length_ns(), (end_ns - begin_ns) * 2);
    const int64_t centre = begin_ns + (end_ns - begin_ns) / 2;
    set_range({centre - length / 2, centre - length / 2 + length});
}

void Focus::go_back() {
    if (back_.empty()) return;
    forward_.push_back(range_);
    const TimeRange to = back_.back();
    back_.pop_back();
    last_change_ms_ = 0;
    apply(to);
}

void Focus::go_forward() {
    if (forward_.empty()) return;
    back_.push_back(range_);
    const TimeRange to = forward_.back();
    forward_.pop_back();
    last_change_ms_ = 0;
    apply(to);
}

void Focus::mark(std::optional<TimeRange> range) {
    if (range) {
        if (range->end_ns < range->begin_ns) std::swap(range->begin_ns, range->end_ns);
        range->begin_ns = std::clamp<int64_t>(range->begin_ns, 0, duration_ns_);
        range->end_ns = std::clamp<int64_t>(range->end_ns, 0, duration_ns_);
        if (range->empty()) range = std::nullopt;
    }
    if (range == marked_) return;
    marked_ = range;
    Q_EMIT marked_changed();
}

void Focus::select(OpId op) {
    if (op == selected_) return;
    selected_ = op;
    Q_EMIT selected_changed();
}

void Focus::set_cursor(std::optional<int64_t> ns) {
    if (ns) ns = std::clamp<int64_t>(*ns, 0, duration_ns_);
    if (ns == cursor_ns_) return;
    cursor_ns_ = ns;
    Q_EMIT cursor_changed();
}

}  // namespace headroom::gui
