// Sweep: memory and step time against context for the strategies chosen, budgets, and where each strategy
// stops fitting; any point opens its plan.
#pragma once

#include <QTimer>
#include <array>
#include <vector>

#include "gui/model/sweep.h"
#include "gui/model/sweep_table.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/view.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSplitter;
class QStackedLayout;
class QTableView;

namespace headroom::gui {

class SweepView : public View {
    Q_OBJECT
public:
    SweepView(Document& document, Focus& focus, QWidget* parent = nullptr);

    void set_palette(const Palette& palette) override;
    // As `headroom sweep --csv` writes it.
    QByteArray csv() const override;
    bool has_content() const override { return !table_.points().empty(); }
    bool busy() const override { return run_.busy() || wanted_.isActive(); }
    QList<KeyHelp> keys() const override;

    SweepTable& table() { return table_; }
    SweepPanel& panel(SweepPanel::Quantity quantity) { return *panels_[static_cast<size_t>(quantity)]; }

Q_SIGNALS:
    void plan_chosen(const headroom::Plan& plan);

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QLayout* make_controls();
    void take_document();
    // Sweeps what the controls say, now or once the view is seen.
    void want();
    void start();
    void stop_or_start();
    void show_points();
    void show_state();
    void pick(size_t point);
    void open_plan(int row);
    // The contexts asked for; an empty list: `complaint_` says what is wrong with them.
    std::vector<Tokens> contexts();
    std::vector<std::string> chosen() const;
    void restyle();

    std::shared_ptr<const Scenario> scenario_;
    bool opened_here_ = false;  // the plan that is open was found by this sweep
    bool dirty_ = false;        // the points are of another scenario, or of none
    SweepTable table_;
    SweepRun run_;
    QTimer wanted_;

    QStackedLayout* pages_;
    QLabel* missing_;
    QWidget* body_;
    QLineEdit *from_, *to_;
    QPushButton* go_;
    QProgressBar* progress_;
    std::vector<QCheckBox*> boxes_;
    QLabel *limits_, *complaint_, *note_;
    QString failure_;
    std::array<SweepPanel*, 3> panels_{};
    QTableView* rows_;
    QSplitter* halves_ = nullptr;
    bool moved_ = false;  // by hand: the halves keep their sizes
};

}  // namespace headroom::gui
