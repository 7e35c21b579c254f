// The ground of every view over time: an axis with ticks above a body that somebody else paints, moved with
// mouse and keys, linked to the Focus. It knows no ops and no bytes.
//
// Zoom: wheel (at the pointer), W and S, + and - (at the cursor, or the centre). Pan: drag, Shift+wheel,
// A and D, Page Up and Down, Home and End. F: the marked range or the selection fills the width; again: all.
// Mark a range: drag on the axis, or Shift+drag; M: what is in view. Escape: no mark, then no selection.
//
// Contract: what is painted is asked for in `set_body`; everything of the view that depends on range, size or
// scale is made anew on view_changed(). Cost of a move of the pointer: a repaint of two columns of pixels.
#pragma once

#include <QWidget>
#include <functional>
#include <optional>

#include "gui/model/focus.h"
#include "gui/paint/palette.h"
#include "gui/paint/time_axis.h"
#include "gui/view/view.h"

namespace headroom::gui {

class TimeCanvas : public QWidget {
    Q_OBJECT
public:
    // `axis.left` is body.left(), `axis.width` its width. The painter is clipped to nothing.
    using Body = std::function<void(QPainter&, const TimeAxis& axis, const QRect& body)>;
    static constexpr int kAxis_px = 24;

    explicit TimeCanvas(Focus& focus, QWidget* parent = nullptr);

    void set_body(Body body) { paint_body_ = std::move(body); }
    // Where names, a scale or a legend stand beside the body and below it.
    void set_margins(int left_px, int right_px, int below_px = 0);
    void set_palette(const Palette& palette);
    const Palette& colours() const { return palette_; }
    // The time of what is selected, for F; absent: nothing is.
    void set_selection_range(std::function<std::optional<TimeRange>()> of) { selection_ = std::move(of); }

    QRect body() const;
    // Of the range in view; where there is no step, one nanosecond.
    TimeAxis axis() const;
    Focus& focus() const { return focus_; }

    void fit();
    // < 1: nearer; at the cursor where it is in view, else at the centre.
    void zoom_by(double factor);
    void pan_by(double share_of_range);

    static QList<KeyHelp> keys();

Q_SIGNALS:
    void view_changed();  // range, size or device pixel ratio
    void hovered(QPoint at);
    void left();
    void clicked(QPoint at);
    void double_clicked(QPoint at);
    void stepped(int by);       // left and right arrow: -1, 1
    void lane_stepped(int by);  // up and down arrow

protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void wheelEvent(QWheelEvent*) override;
    void mousePressEvent(QMouseEvent*) override;
    void mouseMoveEvent(QMouseEvent*) override;
    void mouseReleaseEvent(QMouseEvent*) override;
    void mouseDoubleClickEvent(QMouseEvent*) override;
    void leaveEvent(QEvent*) override;
    void keyPressEvent(QKeyEvent*) override;

private:
    enum class Drag { none, pressed, pan, mark };
    // What stands on the axis in a box of its own; empty where it does not.
    struct Label {
        QString text;
        QRect rect;
    };
    Label mark_label(const TimeAxis& axis) const;
    Label cursor_label(const TimeAxis& axis) const;
    void paint_axis(QPainter& painter, const TimeAxis& axis) const;
    void paint_mark(QPainter& painter, const TimeAxis& axis) const;
    void paint_cursor(QPainter& painter, const TimeAxis& axis) const;
    void update_cursor_column();

    Focus& focus_;
    Palette palette_;
    Body paint_body_;
    std::function<std::optional<TimeRange>()> selection_;
    int left_px_ = 0, right_px_ = 0, below_px_ = 0;
    Drag drag_ = Drag::none;
    QPoint pressed_at_;
    int64_t pressed_ns_ = 0;
    TimeRange pressed_range_;
    std::optional<int64_t> drawn_cursor_ns_;
    double drawn_scale_ = 0;
};

}  // namespace headroom::gui
