#include "gui/view/knob_panel.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QGridLayout>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <map>

#include "base/text.h"
#include "gui/view/controls.h"

namespace headroom::gui {
namespace {

constexpr const char* kAuto = "auto";  // what scenarios call the planner's choice
constexpr int kLate_ms = 200;          // until a field whose list was open is looked at again

}  // namespace

KnobPanel::KnobPanel(Document& document, QWidget* parent)
    : QWidget(parent), document_(document), context_(new QSlider(Qt::Horizontal)), hint_(new QLabel) {
    auto* column = new QVBoxLayout(this);
    hint_->setWordWrap(true);
    hint_->setAccessibleName(tr("About the knobs"));
    column->addWidget(hint_);
    std::map<QString, QGridLayout*> groups;
    for (const Knob& knob : all_knobs(shipped_hardware())) {
        QGridLayout*& grid = groups[knob.group];
        if (grid == nullptr) {
            auto* box = new QGroupBox(knob.group);
            grid = new QGridLayout(box);
            grid->setColumnStretch(1, 1);
            grid->setVerticalSpacing(3);
            column->addWidget(box);
        }
        add_row(knob);
        const Row& row = rows_.back();
        const int line = grid->rowCount();
        grid->addWidget(row.label, line, 0);
        grid->addWidget(row.field, line, 1);
        grid->addWidget(row.reset, line, 2);
        if (knob.key == "context") {
            context_->setRange(0, kContextPlaces - 1);
            context_->setPageStep(8);
            new WheelGuard(context_);
            context_->setObjectName("context_slider");
            context_->setAccessibleName(tr("Context, tokens"));
            context_->setToolTip(tr("Tokens of one sequence; an octave is eight places"));
            grid->addWidget(context_, line + 1, 0, 1, 3);
            connect(context_, &QSlider::valueChanged, this, [this](int place) {
                document_.knobs().turn("context", tokens_setting(context_of_place(place)), /*merge=*/true);
            });
        }
    }
    column->addStretch(1);
    late_.setSingleShot(true);
    late_.setInterval(kLate_ms);
    connect(&late_, &QTimer::timeout, this, &KnobPanel::show_values);
    connect(&document_, &Document::opened, this, &KnobPanel::show_values);
    connect(&document_, &Document::answer_changed, this, &KnobPanel::show_values);
    connect(&document_.knobs(), &Knobs::changed, this, &KnobPanel::show_values);
    show_values();
}

void KnobPanel::add_row(const Knob& knob) {
    Row row{knob, new QLabel(knob.label), new QComboBox, new QToolButton};
    row.field->setObjectName(knob.key);
    row.field->setAccessibleName(knob.label);
    row.field->setMinimumContentsLength(12);
    row.field->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    row.field->setInsertPolicy(QComboBox::NoInsert);
    row.field->setEditable(knob.kind != Knob::Kind::choice);
    new WheelGuard(row.field);  // a wheel that scrolls the panel turns no knob
    const QString tip = QString("%1.%2\n%3")
                            .arg(knob.help, knob.changes_result ? tr(" Another training run.") : "",
                                 "--set " + knob.key + "=...");
    row.field->setToolTip(tip);
    row.label->setToolTip(tip);
    row.label->setBuddy(row.field);
    row.reset->setText(QString(QChar(0x21BA)));
    row.reset->setAutoRaise(true);
    row.reset->setObjectName("reset " + knob.key);
    row.reset->setToolTip(tr("%1: back to what the file has").arg(knob.label));
    row.reset->setAccessibleName(row.reset->toolTip());
    rows_.push_back(row);
    const size_t at = rows_.size() - 1;
    connect(row.field, &QComboBox::activated, this, [this, at] { commit(rows_[at]); });
    if (row.field->lineEdit() != nullptr) {
        connect(row.field->lineEdit(), &QLineEdit::editingFinished, this, [this, at] { commit(rows_[at]); });
    }
    connect(row.reset, &QToolButton::clicked, this,
            [this, at] { document_.knobs().turn(rows_[at].knob.key, {}); });
}

// The text that stands there and is not what the knob shows by itself becomes its value.
void KnobPanel::commit(const Row& row) {
    const int index = row.field->currentIndex();
    if (row.field->lineEdit() != nullptr) row.field->lineEdit()->setModified(false);
    const bool from_list = index >= 0 && row.field->currentText() == row.field->itemText(index);
    const QString value =
        from_list ? row.field->itemData(index).toString() : row.field->currentText().trimmed();
    if (!from_list && value == row.field->property("shown").toString()) return;
    document_.knobs().turn(row.knob.key, value);
}

const Plan* KnobPanel::shown_plan() const {
    if (document_.plan() != nullptr) return document_.plan();
    return document_.scenario() ? &document_.scenario()->plan : nullptr;
}

void KnobPanel::show_row(const Row& row) {
    // An answer that comes now takes neither a half-typed value nor an open list away.
    const QLineEdit* line = row.field->lineEdit();
    if (line != nullptr && line->hasFocus() && line->isModified()) return;
    if (row.field->view()->isVisible()) {
        late_.start();
        return;
    }
    const QSignalBlocker quiet(row.field);
    const Knobs& knobs = document_.knobs();
    const Plan* plan = shown_plan();
    const QString key = row.knob.key, turned = knobs.value(key);
    const QString stands_at = plan != nullptr ? value_in(row.knob, *plan) : QString();
    const std::string decision = key.mid(QString("plan.").size()).toStdString();
    const bool decided = row.knob.planner_decides && document_.scenario() &&
                         (turned.isEmpty() || turned == kAuto) &&
                         planner_decides(*document_.scenario(), decision);
    row.field->clear();
    // Short where the value follows: the field has little room.
    const auto with_value = [&](const QString& alone, const QString& before) {
        return stands_at.isEmpty() ? alone : QString("%1: %2").arg(before, stands_at);
    };
    const QString of_file = tr("as in the file"), of_planner = tr("planner decides");
    const QString file_now = with_value(of_file, tr("file")),
                  planner_now = with_value(of_planner, tr("planner"));
    // The order stays the same whatever is turned, so that the arrow keys walk through it.
    row.field->addItem(!turned.isEmpty() ? of_file : decided ? planner_now : file_now, QString());
    if (row.knob.planner_decides && (!decided || turned == kAuto))
        row.field->addItem(turned == kAuto ? planner_now : of_planner, QString(kAuto));
    for (const QString& value : row.knob.values) row.field->addItem(value, value);
    if (row.field->findData(turned) < 0) row.field->addItem(turned, turned);
    row.field->setCurrentIndex(row.field->findData(turned));
    row.field->setProperty("shown", row.field->currentText());
    row.field->setToolTip(row.label->toolTip() + '\n' + row.field->currentText());
    if (row.field->lineEdit() != nullptr) row.field->lineEdit()->setCursorPosition(0);
    QFont font = row.label->font();
    font.setBold(!turned.isEmpty());
    row.label->setFont(font);
    row.reset->setEnabled(!turned.isEmpty());
}

void KnobPanel::show_values() {
    const bool scenario = document_.kind() == Document::Kind::scenario;
    hint_->setText(
        scenario ? tr("Turn a knob: a new verdict comes at once, the step as soon as it is simulated. The "
                      "file is not changed.")
        : document_.kind() == Document::Kind::none
            ? tr("Open a scenario to turn its knobs.")
            : tr("A plan has every decision taken. Open the scenario it came from to change them."));
    for (const Row& row : rows_) {
        show_row(row);
        row.field->setEnabled(scenario);
        row.label->setEnabled(scenario);
        if (!scenario) row.reset->setEnabled(false);
    }
    context_->setEnabled(scenario);
    const QSignalBlocker quiet(context_);
    const QString turned = document_.knobs().value("context");
    const Plan* plan = shown_plan();
    // While the slider moves, the plan that is shown is still the one before.
    const Result<Tokens> asked = parse_tokens(turned.toStdString(), "context");
    if (!turned.isEmpty() && asked) {
        context_->setValue(nearest_context_place(asked->count()));
    } else if (plan != nullptr) {
        context_->setValue(nearest_context_place(plan->context.count()));
    }
}

}  // namespace headroom::gui
