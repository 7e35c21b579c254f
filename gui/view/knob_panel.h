// The knobs of a scenario as a column of fields: each fixed to a value, or left to the file or the planner.
#pragma once

#include <QTimer>
#include <QWidget>
#include <vector>

#include "gui/model/document.h"

class QComboBox;
class QLabel;
class QSlider;
class QToolButton;

namespace headroom::gui {

class KnobPanel : public QWidget {
    Q_OBJECT
public:
    explicit KnobPanel(Document& document, QWidget* parent = nullptr);

private:
    struct Row {
        Knob knob;
        QLabel* label;
        QComboBox* field;
        QToolButton* reset;
    };
    void add_row(const Knob& knob);
    void commit(const Row& row);
    void show_values();
    void show_row(const Row& row);
    const Plan* shown_plan() const;

    Document& document_;
    std::vector<Row> rows_;
    QTimer late_;  // what came while a list was open is shown once it is closed
    QSlider* context_;
    QLabel* hint_;
};

}  // namespace headroom::gui
