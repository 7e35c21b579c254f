// Page traffic: which pages each chunk reads, makes and touches, where they live, what travels for it, and
// the same replayed by a time cursor.
#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include "gui/view/page_map_widget.h"
#include "gui/view/view.h"

class QComboBox;
class QLabel;
class QSlider;
class QSpinBox;
class QStackedLayout;
class QToolButton;

namespace headroom::gui {

class LegendBar;
class TrafficChart;

class PagesView : public View {
    Q_OBJECT
public:
    PagesView(Document& document, Focus& focus, QWidget* parent = nullptr);

    void set_palette(const Palette& palette) override;
    // One row a chunk, of the layer and pass looked at.
    QByteArray csv() const override;
    bool has_content() const override { return data_ != nullptr; }
    bool busy() const override { return making_.busy() || (data_ && map_->busy()); }
    QList<KeyHelp> keys() const override;

    PageMapWidget& map() { return *map_; }
    TrafficChart& chart() { return *chart_; }
    Pass pass() const;
    int layer() const;
    bool playing() const { return timer_.isActive(); }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QLayout* make_controls();
    QLayout* make_replay();
    void take_step();
    void show_pass();
    void show_traffic();
    void follow_cursor();
    void follow_selection();
    void tell_cell();
    void go_to_cell();
    void play(bool on);
    void tick();
    void step_to(int direction);  // the next or previous chunk that is worked on
    void update_legends();

    PagesPtr data_;
    Job making_;
    QStackedLayout* pages_;
    QLabel* missing_;
    QWidget* body_;
    QSpinBox* layer_;
    QComboBox *pass_, *unit_, *speed_;
    LegendBar *map_legend_, *chart_legend_;
    PageMapWidget* map_;
    TrafficChart* chart_;
    QLabel *selection_text_, *cell_text_, *now_text_;
    QToolButton* play_;
    QSlider* slider_;
    QTimer timer_;
    QElapsedTimer since_tick_;
};

}  // namespace headroom::gui
