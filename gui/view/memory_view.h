// Memory over time: each tier stacked by category, and all about the instant under the pointer.
#pragma once

#include <memory>

#include "gui/model/memory_instant.h"
#include "gui/view/memory_canvas.h"
#include "gui/view/view.h"

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QTableView;
class QToolButton;

namespace headroom::gui {

class MemoryView : public View {
    Q_OBJECT
public:
    MemoryView(Document& document, Focus& focus);

    void set_palette(const Palette& palette) override;
    // A line for each tier and column of pixels: the fullest instant in it, by category.
    QByteArray csv() const override;
    void draw(QPainter& painter) override;
    bool has_content() const override { return curves_ != nullptr && !curves_->empty(); }
    bool busy() const override { return preparing_.busy() || canvas_->busy(); }
    QList<KeyHelp> keys() const override;

    MemoryCanvas& canvas() const { return *canvas_; }
    MemoryInstantModel& instant() const { return *instant_; }
    // The instant that the table tells of: the cursor's, else the fullest of the device.
    int64_t shown_ns() const;

private:
    QWidget* make_bar();
    QWidget* make_side();
    void take_step();
    void take_curves(std::shared_ptr<const MemoryCurves> curves);
    void tell_instant();
    void go_to_peak(size_t curve);

    MemoryCanvas* canvas_;
    MemoryInstantModel* instant_;
    QLabel* instant_text_ = nullptr;
    QTableView* table_ = nullptr;
    QHBoxLayout* peaks_ = nullptr;
    QCheckBox* near_ = nullptr;

    StepPtr step_;
    std::shared_ptr<const MemoryCurves> curves_;
    Job preparing_;
};

}  // namespace headroom::gui
