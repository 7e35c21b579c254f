// Was the prediction right, and where not: both steps on one axis of time, every error judged against a
// tolerance, and the way to the op that differs most.
#pragma once

#include <memory>

#include "gui/model/comparison.h"
#include "gui/paint/compare_list.h"
#include "gui/view/view.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace headroom::gui {

class OutsideDelegate;
class CompareCanvas;
class ComparisonFilter;
class ComparisonModel;
class ErrorChart;

class CompareView : public View {
    Q_OBJECT
public:
    CompareView(Document& document, Focus& focus, QWidget* parent = nullptr);

    QByteArray csv() const override;
    void draw(QPainter& painter) override;
    bool has_content() const override { return comparison() != nullptr; }
    bool busy() const override;
    // Lays the run beside its plan with the pages that it selected, not those that the plan draws; false:
    // they were not recorded beside it.
    bool set_with_selection(bool on);
    QList<KeyHelp> keys() const override;
    void set_palette(const Palette& palette) override;

    CompareCanvas& canvas() const { return *canvas_; }
    ErrorChart& chart() const { return *chart_; }
    ComparisonModel& model() const { return *model_; }
    ComparisonPtr comparison() const;  // null: one side is missing, or it is being worked out

public Q_SLOTS:
    // To the op that differs most, of the row that is selected, else of the kind with the largest error.
    void jump_to_worst();
    void ask_measured();

private:
    struct Data {
        ComparisonPtr comparison;
        std::shared_ptr<const CompareTracks> tracks;
    };
    // compare_layout.cpp
    QWidget* make_bar();
    QWidget* make_table();
    QWidget* make_chart();
    QWidget* make_below();
    QWidget* make_empty();
    void take_steps();
    void take(const Data& data);
    void set_tolerance(double percent);
    void go_to(const Place& place);
    void show_op();
    void tell();

    QStackedWidget* pages_;
    CompareCanvas* canvas_;
    ErrorChart* chart_;
    ComparisonModel* model_;
    ComparisonFilter* filter_;
    QTableView* table_;
    OutsideDelegate* outside_ = nullptr;
    QLabel *empty_, *summary_, *op_;
    QPushButton *open_, *open_other_, *worst_;
    QDoubleSpinBox* tolerance_;
    QComboBox *group_, *category_, *unit_;
    QCheckBox *judged_, *with_selection_;
    StepPtr predicted_, measured_;
    bool compared_with_selection_ = false;
    Job comparing_;
    std::string error_;  // why the two cannot be laid side by side
};

}  // namespace headroom::gui
