// What a run is to do: the controls beside its picture.
#pragma once

#include <QWidget>

#include "gui/model/run_settings.h"
#include "gui/paint/palette.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace headroom::gui {

class PathField;

class RunForm : public QWidget {
    Q_OBJECT
public:
    explicit RunForm(QWidget* parent = nullptr);

    RunSettings settings() const;
    void set_settings(const RunSettings& settings);
    // Reasons against a run, shown above the button, which they may switch off.
    void set_obstacles(const std::vector<Obstacle>& obstacles);
    void set_running(bool running, bool cancelling);
    void set_palette(const Palette& palette);

Q_SIGNALS:
    void changed();
    void run_asked();
    void cancel_asked();

private:
    void build();
    void add_more(QFormLayout& form);
    void refresh();

    QComboBox* device_;
    QSpinBox *steps_, *seed_;
    QDoubleSpinBox* learning_rate_;
    PathField *output_, *weights_, *tokens_, *save_weights_, *checkpoint_, *resume_;
    QToolButton* more_;
    QWidget *fields_, *more_fields_;
    QLabel* obstacles_label_;
    QPushButton *run_, *cancel_;
    Palette palette_;
    std::vector<Obstacle> obstacles_;
    bool running_ = false, cancelling_ = false;
};

}  // namespace headroom::gui
