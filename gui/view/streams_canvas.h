// The lanes of a step, painted: ops, what is too small to see fused, stalls, the critical path, hits of a
// search, the selected op with what it waits for and what waits for it, and a legend of the kinds in view.
#pragma once

#include <memory>

#include "gui/model/op_query.h"
#include "gui/model/step.h"
#include "gui/paint/streams_list.h"
#include "gui/view/drawn.h"
#include "gui/view/time_canvas.h"

namespace headroom::gui {

class StreamsCanvas : public TimeCanvas {
    Q_OBJECT
public:
    static constexpr int kNames_px = 118;
    static constexpr int kLegend_px = 26;

    explicit StreamsCanvas(Focus& focus, QWidget* parent = nullptr);

    // Null: nothing. `lanes` are of the step.
    void set_lanes(StepPtr step, std::shared_ptr<const Lanes> lanes);
    void set_hits(std::shared_ptr<const Hits> hits);  // null: no search
    void set_shows_critical(bool shows);
    void set_shows_stalls(bool shows);
    // What stands there where there are no lanes.
    void set_empty_text(const QString& text);

    const StreamsList* list() const { return drawn_.get(); }
    bool busy() const { return drawn_.busy(); }
    // The list of what is in view, in this thread, at once.
    void make_list_now();

    // Rows of the lanes, in the order of Lanes::lanes.
    QRect lane_rect(size_t lane) const;
    // Of the lane at the point; kNone: none near.
    OpId op_at(QPoint at) const;
    // The op that waits at the end of the stall at the point; kNone: there is none.
    OpId stall_at(QPoint at) const;

    void select(OpId op);  // and shows it

protected:
    bool event(QEvent*) override;

private:
    void want_list();
    std::function<StreamsList()> maker() const;
    void step_along(int by);
    void step_lane(int by);
    size_t lane_at(int y) const;
    QString tip_at(QPoint at) const;

    void paint(QPainter& painter, const TimeAxis& axis, const QRect& body);
    void paint_lane(QPainter& painter, size_t lane, const TimeAxis& axis) const;
    void paint_name(QPainter& painter, size_t lane) const;
    void paint_gap(QPainter& painter, const Gap& gap, const QRectF& rect) const;
    void paint_selection(QPainter& painter, const TimeAxis& axis) const;
    void paint_dependency(QPainter& painter, const TimeAxis& axis, OpId from, OpId to) const;
    void paint_legend(QPainter& painter) const;

    StepPtr step_;
    std::shared_ptr<const Lanes> lanes_;
    std::shared_ptr<const Hits> hits_;
    bool shows_critical_ = true, shows_stalls_ = true;
    QString empty_text_;
    Drawn<StreamsList> drawn_;
};

}  // namespace headroom::gui
