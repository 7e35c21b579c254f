// Predicted and measured on one axis of time: two lanes a stream, one under the other, and the memory curves
// of both, one over the other, a strip for each tier.
#pragma once

#include <memory>

#include "gui/model/comparison.h"
#include "gui/paint/compare_list.h"
#include "gui/view/drawn.h"
#include "gui/view/time_canvas.h"

namespace headroom::gui {

class CompareCanvas : public TimeCanvas {
    Q_OBJECT
public:
    static constexpr int kNames_px = 132;
    static constexpr int kTitle_px = 20;  // above each strip of memory

    explicit CompareCanvas(Focus& focus, QWidget* parent = nullptr);

    // Null: nothing. `tracks` are of the comparison.
    void set(ComparisonPtr comparison, std::shared_ptr<const CompareTracks> tracks);
    // Of the memory strips; Category::count_: all of them together.
    void set_category(Category category);
    Category category() const { return category_; }

    const CompareList* list() const { return drawn_.get(); }
    bool busy() const { return drawn_.busy(); }
    // The list of what is in view, in this thread, at once.
    void make_list_now();

    // Where the stream's lane of the one or the other step is painted; null: it has none.
    QRect lane_rect(Stream stream, bool measured) const;
    QRect strip_rect(size_t tier) const;
    OpId op_at(QPoint at) const;
    // The bytes at the lower and the upper edge of a strip.
    struct Scale {
        double low_bytes = 0, high_bytes = 1;
        double y_of(double bytes, const QRect& strip) const;
    };
    Scale scale_of(size_t tier) const;

protected:
    bool event(QEvent*) override;

private:
    void want_list();
    std::function<CompareList()> maker() const;
    int lane_height() const;
    int lanes_height() const;
    void step_along(int by);

    void paint(QPainter& painter, const TimeAxis& axis, const QRect& body);
    void paint_stream(QPainter& painter, Stream stream, const TimeAxis& axis);
    void paint_lane(QPainter& painter, const LaneList& list, const Step& of, const QRect& row,
                    const TimeAxis& axis) const;
    void paint_selection(QPainter& painter, const TimeAxis& axis) const;
    void paint_strip(QPainter& painter, size_t tier, const TimeAxis& axis);
    void paint_curve(QPainter& painter, const std::vector<StepPoint>& steps, const Scale& scale,
                     const QRect& strip, const TimeAxis& axis) const;

    ComparisonPtr comparison_;
    std::shared_ptr<const CompareTracks> tracks_;
    std::vector<Stream> streams_;
    Category category_ = Category::count_;
    Drawn<CompareList> drawn_;
};

}  // namespace headroom::gui
