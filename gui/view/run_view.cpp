#include "gui/view/run_view.h"

#include <QDir>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QScrollArea>
#include <QStandardPaths>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/file.h"
#include "cli/engine_process.h"
#include "gui/model/run_steps_model.h"
#include "gui/model/text.h"
#include "gui/view/run_charts.h"
#include "gui/view/run_form.h"
#include "gui/view/splitter.h"

namespace headroom::gui {
namespace {

constexpr int kClock_ms = 250;
constexpr int kJudge_ms = 150;  // after the last keystroke in a field

QString seconds_text(double seconds) {
    return time_text(static_cast<int64_t>(seconds * 1e9));
}

// What nobody knows to the millisecond.
QString about_text(double seconds) {
    return time_text(static_cast<int64_t>(std::ceil(seconds)) * 1'000'000'000).replace(".0 s", " s");
}

QLabel* text_label(const char* object) {
    auto* label = new QLabel;
    label->setObjectName(object);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

bool is_within(const QString& folder, const std::filesystem::path& parent) {
    const QString root = QDir(QString::fromStdString(parent.string())).canonicalPath();
    const QString inner = QDir(folder).canonicalPath();
    return !root.isEmpty() && (inner == root || inner.startsWith(root + "/"));
}

}  // namespace

RunView::RunView(Document& document, Focus& focus, QWidget* parent)
    : View(tr("Run"), document, focus, parent),
      engine_(QString::fromStdString(cli::engine_path())),
      form_(new RunForm),
      headline_(text_label("run_headline")),
      times_(text_label("run_times")),
      facts_(text_label("run_facts")),
      message_(text_label("run_message")),
      empty_(text_label("run_empty")),
      bar_(new QProgressBar),
      charts_(new RunCharts),
      steps_(new RunStepsModel(this)),
      table_(new QTableView),
      picture_(nullptr),
      clock_(new QTimer(this)),
      judging_(new QTimer(this)) {
    auto* scroll = new QScrollArea;
    scroll->setWidget(form_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setMinimumWidth(300);
    scroll->setFocusPolicy(Qt::NoFocus);  // it follows the focus of its fields
    auto* right = new QWidget;
    auto* column = new QVBoxLayout(right);
    picture_ = make_picture();
    empty_->setAlignment(Qt::AlignCenter);
    column->addWidget(empty_, 1);
    column->addWidget(message_);
    column->addWidget(picture_, 1);
    auto* split = new Splitter(Qt::Horizontal, tr("Width of the settings"));
    split->addWidget(scroll);
    split->addWidget(right);
    split->setStretchFactor(1, 1);
    split->setSizes({330, 900});
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(split);

    clock_->setInterval(kClock_ms);
    judging_->setInterval(kJudge_ms);
    judging_->setSingleShot(true);
    connect(clock_, &QTimer::timeout, this, &RunView::refresh);
    connect(judging_, &QTimer::timeout, this, &RunView::judge);
    connect(form_, &RunForm::changed, judging_, qOverload<>(&QTimer::start));
    connect(form_, &RunForm::run_asked, this, &RunView::start);
    connect(form_, &RunForm::cancel_asked, this, &RunView::cancel);
    for (const auto signal : {&Document::opened, &Document::answer_changed, &Document::steps_changed})
        connect(&document, signal, this, &RunView::take_plan);
    connect(&run_, &EngineRun::state_changed, this, &RunView::on_state);
    connect(&run_, &EngineRun::said, this, [this](const RunEvent& e) {
        if (e.kind == RunEvent::Kind::step) steps_->add(e);
        if (e.kind == RunEvent::Kind::step || e.kind == RunEvent::Kind::start)
            charts_->show_run(run_.so_far());
        refresh();
    });
    connect(&run_, &EngineRun::sampled, this, [this] { charts_->show_run(run_.so_far()); });
    connect(&run_, &EngineRun::finished, this, [this](const QString& path) {
        tone_ = Tone::good;
        message_->setText(tr("Done. The measured timeline is %1.").arg(path));
        refresh();
        this->document().open_measured(path.toStdString());
        Q_EMIT finished_with(path);
        Q_EMIT view_wanted("compare");
    });
    connect(&run_, &EngineRun::cancelled, this, [this] {
        tone_ = Tone::plain;
        message_->setText(tr("Cancelled. No timeline was written."));
        refresh();
    });
    connect(&run_, &EngineRun::failed, this, [this](const Error& error) {
        tone_ = Tone::bad;
        QString text = text_of(error.where) + ": " + text_of(error.found);
        if (!error.allowed.empty()) text += "\n" + tr("Allowed: %1").arg(text_of(error.allowed));
        message_->setText(text);
        refresh();
    });
    set_palette(colours());
    take_plan();
    refresh();
}

RunView::~RunView() {
    run_.disconnect(this);
}

QWidget* RunView::make_picture() {
    bar_->setObjectName("run_progress");
    bar_->setAccessibleName(tr("Progress of the run"));
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    table_->setObjectName("run_table");
    table_->setAccessibleName(tr("Steps of the run"));
    table_->setModel(steps_);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    table_->setTabKeyNavigation(false);
    table_->setMinimumHeight(90);
    auto* picture = new QWidget;
    auto* column = new QVBoxLayout(picture);
    column->setContentsMargins(0, 0, 0, 0);
    QFont bold = headline_->font();
    bold.setBold(true);
    bold.setPointSizeF(bold.pointSizeF() * 1.2);
    headline_->setFont(bold);
    column->addWidget(headline_);
    column->addWidget(bar_);
    column->addWidget(times_);
    column->addWidget(facts_);
    column->addWidget(charts_, 3);
    column->addWidget(table_, 2);
    return picture;
}

void RunView::set_engine(const QString& program) {
    engine_ = program;
    judge();
}

// Another plan is open: a name for its timeline, unless the person chose one.
void RunView::take_plan() {
    RunSettings s = form_->settings();
    if (s.output.isEmpty() || s.output == proposed_) {
        proposed_ = document().kind() == Document::Kind::none ? QString() : proposed_output();
        s.output = proposed_;
        form_->set_settings(s);
    }
    judge();
    refresh();
}

// Beside the file that is open, where that is a folder of the person's own; else at home.
QString RunView::proposed_output() const {
    const QFileInfo file(QString::fromStdString(document().path().string()));
    QString folder = file.absolutePath();
    const Result<std::filesystem::path> shipped = data_folder();
    if (!QFileInfo(folder).isWritable() || (shipped && is_within(folder, *shipped)))
        folder = QStandardPaths::writableLocation(QStandardPaths::HomeLocation);
    QString name = file.fileName();
    for (const char* ending : {".gz", ".json", ".trace", ".toml", ".measured"}) {
        if (name.endsWith(QLatin1String(ending))) name.chop(static_cast<qsizetype>(std::strlen(ending)));
    }
    return QDir(folder).filePath(name + ".measured.trace.json.gz");
}

RunNeeds RunView::needs() const {
    RunNeeds n;
    const auto answer = document().answer();
    if (!answer) return n;
    for (const Tier tier : {Tier::device, Tier::host})
        n.bytes += answer->evaluation.tiers[static_cast<size_t>(tier)].need_bytes;
    for (const StreamStatistics& s : answer->evaluation.statistics.streams) n.flops += s.flops;
    return n;
}

void RunView::judge() {
    form_->set_obstacles(obstacles_of(document().plan(), needs(), form_->settings(), engine_.toStdString()));
}

void RunView::start() {
    judge();
    if (busy() || document().plan() == nullptr) return;
    const Plan& plan = *document().plan();
    const Result<QString> file = run_.write_plan_file(plan);
    if (!file) {
        tone_ = Tone::bad;
        message_->setText(text_of(file.error().text()));
        return refresh();
    }
    plan_name_ = text_of(plan.name);
    steps_->clear();
    message_->clear();
    tone_ = Tone::plain;
    RunSettings s = form_->settings();
    // Page traffic shows what was selected.
    s.record_selection = plan.decisions.attention.sparse && plan.chunks() > 1;
    run_.start(engine_, words_of(s, *file), s.output);
    charts_->show_run(run_.so_far());
}

void RunView::cancel() {
    run_.cancel();
}

void RunView::on_state() {
    const bool running = busy();
    form_->set_running(running, run_.state() == EngineRun::State::cancelling);
    if (running) {
        clock_->start();
    } else {
        clock_->stop();
        charts_->show_run(run_.so_far());
        judge();
    }
    refresh();
}

QString RunView::facts() const {
    const auto& start = run_.so_far().start;
    if (!start) return {};
    QString text = tr("%1: %2 operations a step, %3 in the device's arena")
                       .arg(start->device, count_text(start->ops), bytes_text(start->device_arena_bytes));
    if (start->host_arena_bytes > 0)
        text += tr(", %1 in the host's").arg(bytes_text(start->host_arena_bytes));
    if (start->first_step > 0) text += tr("; goes on after step %1").arg(count_text(start->first_step));
    return text;
}

void RunView::refresh() {
    const RunSoFar& so_far = run_.so_far();
    const bool shown = busy() || so_far.start || !so_far.steps.empty();
    picture_->setVisible(shown);
    message_->setVisible(!message_->text().isEmpty());
    empty_->setVisible(!shown);
    empty_->setText(document().plan() == nullptr
                        ? tr("A run executes the plan of what is open, on this machine, and measures it.\n"
                             "Open a scenario, a plan or a timeline first.")
                        : tr("Nothing has run yet.\nThe engine executes the same operations that were "
                             "predicted, and its measured timeline is laid beside them in Compare."));
    const int64_t steps = so_far.start ? so_far.start->steps : 0;
    const auto done = static_cast<int64_t>(so_far.steps.size());
    if (run_.state() == EngineRun::State::cancelling) {
        headline_->setText(tr("%1: cancelling…").arg(plan_name_));
    } else if (busy() && !so_far.start) {
        headline_->setText(tr("%1: the engine is starting…").arg(plan_name_));
    } else if (busy()) {
        headline_->setText(tr("%1: step %2 of %3")
                               .arg(plan_name_, count_text(std::min(done + 1, steps)), count_text(steps)));
    } else {
        headline_->setText(tr("%1: %2 of %3 steps").arg(plan_name_, count_text(done), count_text(steps)));
    }
    // Before the first step is under way there is no share to tell.
    bar_->setRange(0, busy() && so_far.share <= 0 ? 0 : 1000);
    bar_->setValue(static_cast<int>(so_far.share * 1000));
    QString times =
        tr("%1, %2 elapsed").arg(percent_text(so_far.share), seconds_text(run_.elapsed_seconds()));
    const auto left = run_.remaining_seconds();
    if (busy() && left) times += tr(", about %1 left").arg(about_text(*left));
    if (so_far.end)
        times += tr("; %1 tokens/s").arg(count_text(static_cast<int64_t>(so_far.end->tokens_per_second)));
    times_->setText(times);
    facts_->setText(facts());
    const QColor tone = tone_ == Tone::bad    ? colours().bad
                        : tone_ == Tone::good ? colours().good
                                              : colours().text;
    message_->setStyleSheet(QString("color: %1").arg(tone.name()));
}

void RunView::set_palette(const Palette& palette) {
    View::set_palette(palette);
    form_->set_palette(palette);
    charts_->set_palette(palette);
    facts_->setStyleSheet(QString("color: %1").arg(palette.faint_text.name()));
    times_->setStyleSheet(QString("color: %1").arg(palette.text.name()));
    refresh();
}

QByteArray RunView::csv() const {
    return steps_->csv();
}

bool RunView::has_content() const {
    return document().plan() != nullptr;  // the form at least: what would be run, and how
}

QList<KeyHelp> RunView::keys() const {
    return {{"Alt+R", tr("Run")}, {"Alt+C", tr("Cancel the run; again: at once")}};
}

}  // namespace headroom::gui
