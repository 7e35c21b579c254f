// What all views of a step look at together: one time range, one selected op, one cursor.
#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "program/program.h"

namespace headroom::gui {

// [begin_ns, end_ns), begin_ns < end_ns where there is a step; both 0 where there is none.
struct TimeRange {
    int64_t begin_ns = 0, end_ns = 0;
    int64_t length_ns() const { return end_ns - begin_ns; }
    bool empty() const { return end_ns <= begin_ns; }
    bool contains(int64_t ns) const { return ns >= begin_ns && ns < end_ns; }
    bool operator==(const TimeRange&) const = default;
};

// Contract: range() lies within whole(); the shortest range is kShortest_ns. Every change of the range that a
// person makes in one go (a wheel turn, a drag) is one entry of the history: changes within kTogether_ms of
// each other are one.
class Focus : public QObject {
    Q_OBJECT
public:
    static constexpr int64_t kShortest_ns = 100;
    static constexpr qint64 kTogether_ms = 400;

    explicit Focus(QObject* parent = nullptr);

    // The whole step; resets range, selection, cursor and history.
    void reset(int64_t duration_ns);
    TimeRange whole() const { return {0, duration_ns_}; }

    TimeRange range() const { return range_; }
    void set_range(TimeRange range);  // clamped to the step
    void show_all() { set_range(whole()); }
    // Zooms so that `at_ns` keeps its place; factor > 1 shows more.
    void zoom(double factor, int64_t at_ns);
    void pan(int64_t by_ns);
    // Makes `op`'s time visible: pans, and zooms out only where the op is longer than the range.
    void reveal(int64_t begin_ns, int64_t end_ns);

    bool can_go_back() const { return !back_.empty(); }
    bool can_go_forward() const { return !forward_.empty(); }
    void go_back();
    void go_forward();

    // A range marked by dragging, whose statistics are shown; absent: none.
    std::optional<TimeRange> marked() const { return marked_; }
    void mark(std::optional<TimeRange> range);

    OpId selected() const { return selected_; }  // kNone: none
    void select(OpId op);

    // The instant that the pointer or the replay is at; absent: none.
    std::optional<int64_t> cursor_ns() const { return cursor_ns_; }
    void set_cursor(std::optional<int64_t> ns);

Q_SIGNALS:
    void range_changed();
    void marked_changed();
    void selected_changed();
    void cursor_changed();

private:
    TimeRange clamped(TimeRange range) const;
    void apply(TimeRange range);

    int64_t duration_ns_ = 0;
    TimeRange range_;
    std::optional<TimeRange> marked_;
    OpId selected_ = kNone;
    std::optional<int64_t> cursor_ns_;
    std::vector<TimeRange> back_, forward_;
    qint64 last_change_ms_ = 0;  // on a steady clock
};

}  // namespace headroom::gui
