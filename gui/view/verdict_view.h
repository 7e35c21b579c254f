// Does it fit? By how much, what a step costs, what binds, what would help; and the knobs to ask again.
#pragma once

#include "gui/model/table_model.h"
#include "gui/view/view.h"

class QLabel;
class QPushButton;
class QStackedLayout;
class QTableView;
class QVBoxLayout;

namespace headroom::gui {

class KnobPanel;
class TierBarWidget;

class VerdictView : public View {
    Q_OBJECT
public:
    VerdictView(Document& document, Focus& focus);

    void set_palette(const Palette& palette) override;
    QByteArray csv() const override;
    bool has_content() const override;
    bool busy() const override;

private:
    void show_verdict();
    void show_answer();
    void show_banner();
    void apply_remedy(int row);
    void fit_heights();

    KnobPanel* knobs_;
    QLabel *icon_, *headline_, *detail_, *what_;
    std::vector<TierBarWidget*> tiers_;
    QVBoxLayout* tier_column_;
    TableModel *figures_, *gains_, *remedies_, *decisions_;
    QTableView *figure_list_, *gain_list_, *remedy_list_, *decision_list_;
    QLabel *figure_title_, *gain_title_, *remedy_title_, *decision_title_;
    QPushButton* apply_;
    QWidget* empty_;
    QStackedLayout* pages_;
};

}  // namespace headroom::gui
