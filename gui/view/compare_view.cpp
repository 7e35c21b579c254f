#include "gui/view/compare_view.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/comparison_model.h"
#include "gui/model/text.h"
#include "gui/view/compare_canvas.h"
#include "gui/view/error_chart.h"
#include "gui/view/outside_delegate.h"
#include "gui/view/splitter.h"

namespace headroom::gui {
namespace {

constexpr int64_t kNearer = 20;  // an op that takes less than this share of the width

QLabel* text_label(const char* object) {
    auto* label = new QLabel;
    label->setObjectName(object);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

}  // namespace

CompareView::CompareView(Document& document, Focus& focus, QWidget* parent)
    : View(tr("Compare"), document, focus, parent),
      pages_(new QStackedWidget),
      canvas_(new CompareCanvas(focus)),
      chart_(new ErrorChart),
      model_(new ComparisonModel(this)),
      filter_(new ComparisonFilter(*model_, this)),
      table_(new QTableView),
      empty_(text_label("compare_empty")),
      summary_(text_label("compare_summary")),
      op_(text_label("compare_op")) {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(make_bar());
    auto* split = new Splitter(Qt::Vertical, tr("Height of the lanes"));
    split->addWidget(canvas_);
    split->addWidget(make_below());
    split->setStretchFactor(0, 5);
    split->setStretchFactor(1, 4);
    split->setSizes({460, 370});
    column->addWidget(split, 1);
    pages_->addWidget(make_empty());
    pages_->addWidget(content);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(pages_);
    auto* jump = new QShortcut(QKeySequence(Qt::Key_J), this);
    jump->setContext(Qt::WidgetWithChildrenShortcut);
    connect(jump, &QShortcut::activated, this, &CompareView::jump_to_worst);
    for (const auto signal : {&Document::opened, &Document::answer_changed, &Document::steps_changed})
        connect(&document, signal, this, &CompareView::take_steps);
    connect(&document, &Document::busy_changed, this, &CompareView::tell);
    connect(&focus, &Focus::selected_changed, this, &CompareView::show_op);
    set_palette(colours());
    take_steps();
}

ComparisonPtr CompareView::comparison() const {
    return model_->comparison();
}

bool CompareView::busy() const {
    return comparing_.busy() || canvas_->busy();
}

void CompareView::take_steps() {
    const StepPtr predicted = document().predicted(), measured = document().measured();
    const bool can = measured && measured->selection;
    with_selection_->setVisible(can);
    const bool with_selection = can && with_selection_->isChecked();
    if (predicted != predicted_ || measured != measured_ || with_selection != compared_with_selection_) {
        predicted_ = predicted;
        measured_ = measured;
        compared_with_selection_ = with_selection;
        error_.clear();
        comparing_.cancel();
        take({});
        if (predicted && measured) {
            comparing_.start<Data>(
                [predicted, measured, with_selection](const Progress& progress) -> Result<Data> {
                    Data made;
                    StepPtr beside = predicted;
                    if (with_selection) {
                        HEADROOM_TRY(beside, step_with_selection(*measured, progress));
                    }
                    HEADROOM_TRY(made.comparison, compare_steps(beside, measured));
                    // Those that are laid side by side: one may have been cut to what was kept of the other.
                    const StepPtr before = made.comparison->predicted, after = made.comparison->measured;
                    const std::shared_ptr<const Timeline> p(before, &before->timeline),
                        m(after, &after->timeline);
                    made.tracks = std::make_shared<const CompareTracks>(
                        make_tracks(p, before->index.streams, m, after->index.streams));
                    return made;
                },
                [this](Result<Data> made) {
                    if (!made) error_ = made.error().text();
                    take(made ? *made : Data{});
                });
        }
    }
    tell();
}

bool CompareView::set_with_selection(bool on) {
    with_selection_->setChecked(on);
    return measured_ && measured_->selection;
}

void CompareView::take(const Data& made) {
    model_->set(made.comparison);
    canvas_->set(made.comparison, made.tracks);
    chart_->set(made.comparison, model_->tolerance());
    pages_->setCurrentIndex(made.comparison ? 1 : 0);
    show_op();
    tell();
}

void CompareView::tell() {
    open_->setVisible(document().kind() != Document::Kind::none && !measured_);
    open_->setEnabled(document().plan() != nullptr);
    if (!error_.empty()) {
        empty_->setText(tr("The two cannot be laid side by side: %1").arg(text_of(error_)));
    } else if (document().kind() == Document::Kind::none) {
        empty_->setText(
            tr("Open a scenario, a plan or a timeline: what is predicted is compared here with what "
               "was measured."));
    } else if (predicted_ && measured_) {
        empty_->setText(tr("Comparing…"));
    } else if (document().busy()) {
        empty_->setText(tr("The prediction is being worked out…"));
    } else if (!measured_) {
        empty_->setText(
            tr("There is a prediction and no measured run of it yet.\n"
               "Open one, or make one in Run."));
    } else {
        empty_->setText(tr("There is a measured run, and no prediction of it could be made."));
    }
    if (!comparison()) return;
    const Comparison& c = comparison()->figures;
    const int outside = model_->count_outside();
    QString text = outside == 0 ? QString(QChar(0x2713)) + ' ' + tr("Within the tolerance: ")
                   : outside == 1
                       ? QString(QChar(0x2715)) + ' ' + tr("1 figure is outside: ")
                       : QString(QChar(0x2715)) + ' ' + tr("%1 figures are outside: ").arg(outside);
    text += tr("worst judged error %1.").arg(percent_text(c.worst));
    if (compared_with_selection_) text += ' ' + tr("With the pages that the run selected.");
    if (!c.excerpt.empty()) text += ' ' + tr("Operations of some chunks alone.");
    const Difference& step = c.differences.front();
    if (step.group == "step")
        text += ' ' + tr("Step: predicted %1, measured %2 (%3).")
                          .arg(time_text(step.predicted), time_text(step.measured), error_text(step.error));
    // A plan with its run's pages has a hash of its own.
    if (!c.same_plan && !compared_with_selection_) text += ' ' + tr("The two are of different plans.");
    if (c.unmatched_ops > 0)
        text +=
            ' ' + tr("%1 operations stand at another place of the step.").arg(count_text(c.unmatched_ops));
    summary_->setText(text);
    summary_->setStyleSheet(
        QString("font-weight: bold; color: %1").arg((outside == 0 ? colours().good : colours().bad).name()));
}

void CompareView::show_op() {
    const OpId op = focus().selected();
    if (!comparison() || op >= comparison()->measured->timeline.ops.size()) {
        op_->setText(tr("No operation is selected. Click one, or jump to the worst."));
    } else {
        op_->setText(op_difference_text(*comparison(), op));
    }
}

void CompareView::set_tolerance(double percent) {
    model_->set_tolerance(percent / 100);
    chart_->set(comparison(), model_->tolerance());
    tell();
}

void CompareView::go_to(const Place& place) {
    if (place.instant_ns) {
        focus().reveal(*place.instant_ns, *place.instant_ns + 1);
        focus().set_cursor(place.instant_ns);
    }
    if (place.op == kNone) return;
    const TimelineOp& p = comparison()->predicted->timeline.ops[place.op];
    const TimelineOp& m = comparison()->measured->timeline.ops[place.op];
    const TimeRange both{std::min(p.start_ns, m.start_ns), std::max(p.end_ns, m.end_ns)};
    focus().select(place.op);
    // What would be a few pixels is brought nearer.
    if (both.length_ns() * kNearer < focus().range().length_ns()) {
        focus().set_range({both.begin_ns - 2 * both.length_ns(), both.end_ns + 2 * both.length_ns()});
    } else {
        focus().reveal(both.begin_ns, both.end_ns);
    }
}

void CompareView::jump_to_worst() {
    if (!comparison()) return;
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    Place place;
    if (!rows.isEmpty()) place = place_of(*comparison(), filter_->row(rows.front()));
    const Difference* worst = worst_kind(*comparison());
    if (place.empty() && worst != nullptr) place = place_of(*comparison(), *worst);
    go_to(place);
}

void CompareView::ask_measured() {
    const QString folder = QString::fromStdString(document().path().parent_path().string());
    const QString file =
        QFileDialog::getOpenFileName(window(), tr("Open a measured run"), folder,
                                     tr("Timelines (*.trace.json.gz *.trace.json);;All files (*)"));
    if (!file.isEmpty()) document().open_measured(file.toStdString());
}

void CompareView::set_palette(const Palette& palette) {
    View::set_palette(palette);
    canvas_->set_palette(palette);
    chart_->set_palette(palette);
    outside_->set_colour(palette.bad);
    table_->viewport()->update();
    op_->setStyleSheet(QString("color: %1").arg(palette.text.name()));
    tell();
}

QByteArray CompareView::csv() const {
    return model_->csv();
}

void CompareView::draw(QPainter& painter) {
    canvas_->make_list_now();
    View::draw(painter);
}

QList<KeyHelp> CompareView::keys() const {
    QList<KeyHelp> list = TimeCanvas::keys();
    list << KeyHelp{"J", tr("Jump to the operation that differs most")}
         << KeyHelp{"Enter", tr("In the table: go to where the row differs most")}
         << KeyHelp{tr("Ctrl+1 … Ctrl+9"), tr("In the table: sort by that column; again: the other way")}
         << KeyHelp{tr("Up, Down, Enter"), tr("In the chart: to a bar, and to the op that differs most")};
    return list;
}

}  // namespace headroom::gui
