#include "gui/view/run_form.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/view/controls.h"
#include "gui/view/path_field.h"

namespace headroom::gui {
RunForm::RunForm(QWidget* parent)
    : QWidget(parent),
      device_(named(new QComboBox, "run_device", tr("Device"),
                    tr("Where the engine runs: the CPU, or the GPU where this machine has one"))),
      steps_(named(new QSpinBox, "run_steps", tr("Steps"),
                   tr("Training steps; the timeline is that of the last"))),
      seed_(named(new QSpinBox, "run_seed", tr("Seed"),
                  tr("Of rounding, and of weights and tokens that no file gives"))),
      learning_rate_(named(new QDoubleSpinBox, "run_learning_rate", tr("Learning rate"),
                           tr("Of the optimizer, the same in every step"))),
      palette_(Palette::light()) {
    for (QWidget* control : {static_cast<QWidget*>(device_), static_cast<QWidget*>(steps_),
                             static_cast<QWidget*>(seed_), static_cast<QWidget*>(learning_rate_)})
        new WheelGuard(control);
    device_->addItems(run_devices());
    steps_->setRange(1, 1'000'000);
    seed_->setRange(0, 2'000'000'000);
    learning_rate_->setDecimals(7);
    learning_rate_->setRange(0, 10);
    learning_rate_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    using Kind = PathField::Kind;
    output_ =
        named(new PathField(Kind::save_file, tr("Measured timeline"), tr("Timelines (*.trace.json.gz)"), ""),
              "run_output", tr("Measured timeline"), tr("The file that the run writes at its end"));
    weights_ = named(new PathField(Kind::open_file, tr("Weights"),
                                   tr("Weights (*.safetensors *.safetensors.index.json)"), tr("seeded")),
                     "run_weights", tr("Weights"), tr("Begin with these weights"));
    tokens_ = named(new PathField(Kind::open_file, tr("Tokens"), tr("Token ids (*.npy *.bin);;All files (*)"),
                                  tr("seeded")),
                    "run_tokens", tr("Tokens"),
                    tr("Token ids to train on: .npy of one dimension, else raw uint32; each step takes the "
                       "next context"));
    save_weights_ =
        named(new PathField(Kind::folder, tr("Save weights to"), "", tr("not saved")), "run_save_weights",
              tr("Save weights to"), tr("A folder for model.safetensors and config.json at the end"));
    checkpoint_ = named(new PathField(Kind::folder, tr("Checkpoint"), "", tr("none")), "run_checkpoint",
                        tr("Checkpoint"), tr("A folder that keeps all that a run needs to go on"));
    resume_ = named(new PathField(Kind::folder, tr("Resume from"), "", tr("begin anew")), "run_resume",
                    tr("Resume from"), tr("The folder of a checkpoint to go on from"));
    build();
    set_settings({});
}

void RunForm::build() {
    fields_ = new QWidget;
    auto* form = new QFormLayout(fields_);
    form->setContentsMargins(0, 0, 0, 0);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->addRow(tr("&Device"), device_);
    form->addRow(tr("&Steps"), steps_);
    form->addRow(tr("S&eed"), seed_);
    form->addRow(tr("&Timeline"), output_);
    more_ = named(new QToolButton, "run_more", tr("More options"), tr("Learning rate, files, checkpoints"));
    more_->setText(tr("&More options"));
    more_->setCheckable(true);
    more_->setAutoRaise(true);
    more_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    more_->setArrowType(Qt::RightArrow);
    more_->setFocusPolicy(Qt::StrongFocus);
    form->addRow(more_);
    more_fields_ = new QWidget;
    auto* rest = new QFormLayout(more_fields_);
    rest->setContentsMargins(0, 0, 0, 0);
    rest->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    add_more(*rest);
    more_fields_->hide();
    connect(more_, &QToolButton::toggled, this, [this](bool open) {
        more_fields_->setVisible(open);
        more_->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
    });
    obstacles_label_ = named(new QLabel, "run_obstacles", tr("What speaks against a run"), "");
    obstacles_label_->setWordWrap(true);
    obstacles_label_->setTextFormat(Qt::RichText);
    obstacles_label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    run_ = named(new QPushButton(tr("&Run")), "run_start", tr("Run"),
                 tr("Starts the engine with the plan that is open"));
    cancel_ = named(new QPushButton(tr("&Cancel")), "run_cancel", tr("Cancel"),
                    tr("Stops the run at the next operation; no timeline is written"));
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(run_, 1);
    buttons->addWidget(cancel_, 1);
    auto* column = new QVBoxLayout(this);
    column->addWidget(fields_);
    column->addWidget(more_fields_);
    column->addWidget(obstacles_label_);
    column->addLayout(buttons);
    column->addStretch(1);
    connect(run_, &QPushButton::clicked, this, &RunForm::run_asked);
    connect(cancel_, &QPushButton::clicked, this, &RunForm::cancel_asked);
    connect(device_, &QComboBox::currentTextChanged, this, &RunForm::changed);
    for (QSpinBox* box : {steps_, seed_}) connect(box, &QSpinBox::valueChanged, this, &RunForm::changed);
    connect(learning_rate_, &QDoubleSpinBox::valueChanged, this, &RunForm::changed);
    for (PathField* field : {output_, weights_, tokens_, save_weights_, checkpoint_, resume_})
        connect(field, &PathField::changed, this, &RunForm::changed);
    refresh();
}

void RunForm::add_more(QFormLayout& form) {
    form.addRow(tr("&Learning rate"), learning_rate_);
    form.addRow(tr("&Weights"), weights_);
    form.addRow(tr("T&okens"), tokens_);
    form.addRow(tr("Sa&ve weights"), save_weights_);
    form.addRow(tr("Chec&kpoint"), checkpoint_);
    form.addRow(tr("Resume &from"), resume_);
}

RunSettings RunForm::settings() const {
    RunSettings s;
    s.device = device_->currentText();
    s.steps = steps_->value();
    s.seed = seed_->value();
    s.learning_rate = learning_rate_->value();
    s.output = output_->path();
    s.weights = weights_->path();
    s.tokens = tokens_->path();
    s.save_weights = save_weights_->path();
    s.checkpoint = checkpoint_->path();
    s.resume = resume_->path();
    return s;
}

void RunForm::set_settings(const RunSettings& s) {
    const int device = device_->findText(s.device);
    if (device >= 0) device_->setCurrentIndex(device);
    steps_->setValue(static_cast<int>(s.steps));
    seed_->setValue(static_cast<int>(s.seed));
    learning_rate_->setValue(s.learning_rate);
    output_->set_path(s.output);
    weights_->set_path(s.weights);
    tokens_->set_path(s.tokens);
    save_weights_->set_path(s.save_weights);
    checkpoint_->set_path(s.checkpoint);
    resume_->set_path(s.resume);
}

void RunForm::set_obstacles(const std::vector<Obstacle>& obstacles) {
    if (obstacles == obstacles_) return;
    obstacles_ = obstacles;
    refresh();
}

void RunForm::set_running(bool running, bool cancelling) {
    running_ = running;
    cancelling_ = cancelling;
    refresh();
}

void RunForm::set_palette(const Palette& palette) {
    palette_ = palette;
    refresh();
}

void RunForm::refresh() {
    QString text;
    bool stopped = false;
    for (const Obstacle& o : obstacles_) {
        stopped |= o.stops;
        // A sign and bold besides the colour.
        text += QString("<p style='margin:0 0 6px 0'><span style='color:%1'><b>%2</b></span> %3</p>")
                    .arg((o.stops ? palette_.bad : palette_.warning).name(),
                         o.stops ? QString(QChar(0x2715)) + " " + tr("Not yet:")
                                 : QString(QChar(0x26A0)) + " " + tr("Note:"),
                         o.text.toHtmlEscaped());
    }
    obstacles_label_->setText(text);
    obstacles_label_->setVisible(!text.isEmpty() && !running_);
    fields_->setEnabled(!running_);
    more_fields_->setEnabled(!running_);
    run_->setEnabled(!running_ && !stopped);
    run_->setDefault(run_->isEnabled());
    cancel_->setEnabled(running_);
    cancel_->setText(cancelling_ ? tr("&Cancel now") : tr("&Cancel"));
    cancel_->setToolTip(cancelling_ ? tr("Ends the engine without waiting for the operation that it is at")
                                    : tr("Stops the run at the next operation; no timeline is written"));
}

}  // namespace headroom::gui
