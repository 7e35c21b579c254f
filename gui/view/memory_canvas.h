// Live bytes over the step, painted: a strip for each tier, stacked by category, with the line of its
// capacity and its peak.
#pragma once

#include <memory>
#include <vector>

#include "gui/model/step.h"
#include "gui/paint/memory_list.h"
#include "gui/view/drawn.h"
#include "gui/view/time_canvas.h"

namespace headroom::gui {

// Curves of the tiers that are used.
using MemoryCurves = std::vector<MemoryCurve>;

struct MemoryStrips {
    TimeAxis axis;
    std::vector<MemoryList> strips;  // as MemoryCurves
};

class MemoryCanvas : public TimeCanvas {
    Q_OBJECT
public:
    static constexpr int kScale_px = 78;  // of the byte axis
    static constexpr int kTitle_px = 24;  // above each strip

    explicit MemoryCanvas(Focus& focus, QWidget* parent = nullptr);

    void set_curves(StepPtr step, std::shared_ptr<const MemoryCurves> curves);  // null: nothing
    // Each strip from the least to the most in view, instead of from 0 to the capacity.
    void set_near_bytes(bool near);
    void set_empty_text(const QString& text);

    const MemoryStrips* strips() const { return drawn_.get(); }
    bool busy() const { return drawn_.busy(); }
    void make_strips_now();

    // Where strip `i` is painted, without its title.
    QRect strip_rect(size_t i) const;
    // The bytes at the lower and the upper edge of the strip.
    struct Scale {
        double low_bytes = 0, high_bytes = 1;
    };
    Scale scale_of(size_t i) const;

private:
    void want_strips();
    std::function<MemoryStrips()> maker() const;
    // Moves the cursor to the next instant at which a strip changes.
    void step_along(int by);

    void paint(QPainter& painter, const TimeAxis& axis, const QRect& body);
    void paint_strip(QPainter& painter, size_t i, const TimeAxis& axis) const;
    void paint_stack(QPainter& painter, size_t i, const TimeAxis& axis) const;
    void paint_bytes(QPainter& painter, size_t i) const;
    void paint_capacity(QPainter& painter, size_t i) const;
    void paint_peak(QPainter& painter, size_t i, const TimeAxis& axis) const;
    void paint_title(QPainter& painter, size_t i) const;

    StepPtr step_;
    std::shared_ptr<const MemoryCurves> curves_;
    bool near_ = false;
    QString empty_text_;
    Drawn<MemoryStrips> drawn_;
};

}  // namespace headroom::gui
