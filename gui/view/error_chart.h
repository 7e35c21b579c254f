// The errors of a prediction by kind of op as bars: in percent, or in time.
#pragma once

#include <QWidget>
#include <optional>

#include "gui/model/comparison.h"
#include "gui/paint/palette.h"

class QBarCategoryAxis;
class QBarSet;
class QChartView;
class QValueAxis;

namespace headroom::gui {

// One bar: a kind of op whose error is judged.
struct ErrorBar {
    OpKind kind = OpKind::embed;
    double error = 0;           // as Difference::error; infinite where nothing was measured
    int64_t difference_ns = 0;  // predicted less measured, of all ops of the kind
    bool outside = false;
};
// The `most` that differ most in time, the largest first.
std::vector<ErrorBar> error_bars(const StepComparison& comparison, double tolerance, size_t most = 16);

class ErrorChart : public QWidget {
    Q_OBJECT
public:
    explicit ErrorChart(QWidget* parent = nullptr);

    void set(ComparisonPtr comparison, double tolerance);  // null: nothing
    void set_in_time(bool in_time);
    void set_palette(const Palette& palette);
    // As painted, from top to bottom.
    const std::vector<ErrorBar>& bars() const { return bars_; }
    const QBarSet& within() const { return *within_; }
    const QBarSet& outside() const { return *outside_; }

Q_SIGNALS:
    void kind_clicked(headroom::OpKind kind);

protected:
    void resizeEvent(QResizeEvent* event) override;  // as many bars as have room for their names
    void keyPressEvent(QKeyEvent* event) override;

private:
    void refresh();
    size_t room() const;
    void clicked(int index);
    void choose(size_t bar);

    ComparisonPtr comparison_;
    double tolerance_ = 0.05;
    bool in_time_ = false;
    size_t shown_ = 0;
    Palette palette_;
    std::vector<ErrorBar> bars_;
    std::optional<size_t> chosen_;  // by the arrow keys
    QBarSet *within_, *outside_;
    QBarCategoryAxis* kinds_;
    QValueAxis* values_;
    QChartView* view_;
};

}  // namespace headroom::gui
