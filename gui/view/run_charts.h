// Curves of a run that is going on: the loss and the gradient norm by step, memory by time.
#pragma once

#include <QWidget>

#include "gui/model/engine_run.h"
#include "gui/paint/palette.h"

class QChartView;
class QLineSeries;
class QValueAxis;

namespace headroom::gui {

class RunCharts : public QWidget {
    Q_OBJECT
public:
    // More points than a screen has pixels are thinned.
    static constexpr size_t kMostPoints = 2000;

    explicit RunCharts(QWidget* parent = nullptr);

    void show_run(const RunSoFar& run);
    void set_palette(const Palette& palette);
    const QLineSeries& loss() const { return *loss_; }
    const QLineSeries& gradient_norm() const { return *norm_; }
    const QLineSeries& resident() const { return *resident_; }
    const QLineSeries& device_used() const { return *device_; }

private:
    QChartView* make_numbers();
    QChartView* make_memory();
    void show_numbers(const RunSoFar& run);
    void show_memory(const RunSoFar& run);

    QLineSeries *loss_, *norm_, *resident_, *device_;
    QValueAxis *step_axis_, *loss_axis_, *norm_axis_, *time_axis_, *memory_axis_;
    QChartView *numbers_, *memory_;
};

}  // namespace headroom::gui
