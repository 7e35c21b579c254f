#include "gui/view/streams_view.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/text.h"
#include "gui/view/controls.h"
#include "gui/view/op_details.h"
#include "gui/view/splitter.h"

namespace headroom::gui {
namespace {

constexpr int kTypingRests_ms = 150;

}  // namespace

StreamsView::StreamsView(Document& document, Focus& focus)
    : View(tr("Streams"), document, focus),
      canvas_(new StreamsCanvas(focus)),
      details_(new OpDetails),
      by_kind_(new RangeStatisticsModel(RangeStatisticsModel::By::kind, this)),
      by_stream_(new RangeStatisticsModel(RangeStatisticsModel::By::stream, this)),
      stalls_(new StallsModel(this)),
      figures_([this] {
          by_kind_->set(*figures_.get());
          by_stream_->set(*figures_.get());
      }) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(make_bar());
    auto* split = new Splitter(Qt::Vertical, tr("Height of the lanes"));
    split->addWidget(canvas_);
    split->addWidget(make_below());
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    column->addWidget(split, 1);
    setFocusProxy(canvas_);
    set_palette(colours());

    typing_.setSingleShot(true);
    typing_.setInterval(kTypingRests_ms);
    connect(&typing_, &QTimer::timeout, this, &StreamsView::search);
    connect(&document, &Document::steps_changed, this, &StreamsView::take_step);
    connect(&focus, &Focus::range_changed, this, &StreamsView::want_statistics);
    connect(&focus, &Focus::marked_changed, this, &StreamsView::want_statistics);
    connect(&focus, &Focus::selected_changed, this, [this] {
        details_->show_op(step_, this->focus().selected());
        tell_hits();
    });
    connect(details_, &OpDetails::followed, canvas_, &StreamsCanvas::select);
    take_step();
}

QWidget* StreamsView::make_bar() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 6, 8, 6);
    search_ = new QLineEdit;
    search_->setObjectName("search");
    search_->setClearButtonEnabled(true);
    search_->setPlaceholderText(tr("Find ops: attention past chunk:12 layer:3"));
    search_->setAccessibleName(tr("Find ops"));
    search_->setToolTip(
        tr("Words of a kind's name, and chunk:12, layer:3-5, piece:0, pass:gradient, stream:to_host, "
           "kind:attention_past (Ctrl+F). Enter: next hit, Shift+Enter: the one before"));
    search_->setMaximumWidth(360);
    search_->setMinimumWidth(260);
    previous_hit_ =
        tool_button(this, QString(QChar(0x2039)), tr("Previous hit (Shift+F3)"), [this] { step_hit(-1); });
    next_hit_ = tool_button(this, QString(QChar(0x203a)), tr("Next hit (F3)"), [this] { step_hit(1); });
    hits_text_ = new QLabel;
    critical_ = new QCheckBox(tr("Critical path"));
    critical_->setToolTip(tr("Underline the chain of ops that decided how long the step took"));
    critical_->setChecked(true);
    shows_stalls_ = new QCheckBox(tr("Stalls"));
    shows_stalls_->setToolTip(tr("Hatch the times at which compute stands still, and say what it waits for"));
    shows_stalls_->setChecked(true);
    row->addWidget(search_);
    row->addWidget(previous_hit_);
    row->addWidget(next_hit_);
    row->addWidget(hits_text_);
    row->addStretch(1);
    row->addWidget(critical_);
    row->addWidget(shows_stalls_);
    row->addWidget(tool_button(this, "+", tr("Zoom in (W)"), [this] { canvas_->zoom_by(0.5); }));
    row->addWidget(
        tool_button(this, QString(QChar(0x2212)), tr("Zoom out (S)"), [this] { canvas_->zoom_by(2); }));
    row->addWidget(tool_button(this, tr("Fit"),
                               tr("Fit the marked range or the selection; again: the whole step (F)"),
                               [this] { canvas_->fit(); }));

    connect(search_, &QLineEdit::textChanged, &typing_, qOverload<>(&QTimer::start));
    connect(critical_, &QCheckBox::toggled, canvas_, &StreamsCanvas::set_shows_critical);
    connect(shows_stalls_, &QCheckBox::toggled, canvas_, &StreamsCanvas::set_shows_stalls);
    const auto shortcut = [this](const QKeySequence& keys, QWidget* of, std::function<void()> act) {
        auto* made = new QShortcut(keys, of);
        made->setContext(Qt::WidgetWithChildrenShortcut);
        connect(made, &QShortcut::activated, this, std::move(act));
    };
    shortcut(QKeySequence::Find, this, [this] {
        search_->setFocus(Qt::ShortcutFocusReason);
        search_->selectAll();
    });
    shortcut(Qt::Key_F3, this, [this] { step_hit(1); });
    shortcut(Qt::SHIFT | Qt::Key_F3, this, [this] { step_hit(-1); });
    shortcut(Qt::SHIFT | Qt::Key_Return, search_, [this] { step_hit(-1); });
    shortcut(Qt::Key_Return, search_, [this] { step_hit(1); });
    shortcut(Qt::Key_Escape, search_, [this] { canvas_->setFocus(Qt::ShortcutFocusReason); });
    return bar;
}

QTableView* StreamsView::make_table(QAbstractTableModel* model, const QString& name, bool sorted) {
    auto* table = new QTableView;
    table->setAccessibleName(name);
    QAbstractItemModel* shown = model;
    if (sorted) {
        auto* proxy = new QSortFilterProxyModel(table);
        proxy->setSourceModel(model);
        proxy->setSortRole(Qt::UserRole);
        shown = proxy;
    }
    table->setModel(shown);
    // After the model's order until a header is clicked.
    table->setSortingEnabled(sorted);
    if (sorted) {
        table->sortByColumn(-1, Qt::DescendingOrder);
        sort_by_keys(table);
    }
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setShowGrid(false);
    table->setAlternatingRowColors(true);
    table->setFrameShape(QFrame::NoFrame);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
    table->horizontalHeader()->setHighlightSections(false);
    return table;
}

QWidget* StreamsView::make_below() {
    auto* tabs = new QTabWidget;
    tabs->setDocumentMode(true);
    tabs->setAccessibleName(tr("Figures"));
    const auto page = [](QLabel* above, QTableView* table) {
        auto* made = new QWidget;
        auto* column = new QVBoxLayout(made);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        above->setContentsMargins(8, 4, 8, 4);
        column->addWidget(above);
        column->addWidget(table, 1);
        return made;
    };
    auto* figures = new QWidget;
    auto* column = new QVBoxLayout(figures);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    range_text_ = new QLabel;
    range_text_->setContentsMargins(8, 4, 8, 4);
    QTableView* streams = make_table(by_stream_, tr("Statistics by stream"), true);
    QTableView* kinds = make_table(by_kind_, tr("Statistics by kind of op"), true);
    for (QTableView* table : {streams, kinds})
        table->horizontalHeader()->setSectionResizeMode(RangeStatisticsModel::kName, QHeaderView::Stretch);
    column->addWidget(range_text_);
    column->addWidget(streams);
    column->addWidget(kinds, 1);
    // As high as its rows, one for each stream that the step has.
    streams->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const auto as_high_as_rows = [this, streams] {
        size_t rows = 0;
        for (size_t s = 0; step_ && s < kStreams; ++s) rows += step_->index.streams[s].empty() ? 0 : 1;
        streams->setFixedHeight(streams->horizontalHeader()->sizeHint().height() +
                                static_cast<int>(rows) * streams->verticalHeader()->defaultSectionSize() + 2);
    };
    connect(by_stream_, &QAbstractItemModel::modelReset, streams, as_high_as_rows);
    as_high_as_rows();
    tabs->addTab(figures, tr("Statistics"));
    stalls_text_ = new QLabel;
    stalls_text_->setWordWrap(true);
    QTableView* stalls = make_table(stalls_, tr("The largest stalls"), false);
    stalls->setObjectName("stalls");
    for (const int text : {StallsModel::kOp, StallsModel::kWaitsFor})
        stalls->horizontalHeader()->setSectionResizeMode(text, QHeaderView::Stretch);
    connect(stalls, &QTableView::clicked, this, &StreamsView::go_to_stall);
    connect(stalls, &QTableView::activated, this, &StreamsView::go_to_stall);
    tabs->addTab(page(stalls_text_, stalls), tr("Stalls"));

    auto* below = new Splitter(Qt::Horizontal, tr("Width of the tables"));
    below->addWidget(tabs);
    below->addWidget(details_);
    below->setStretchFactor(0, 3);
    below->setStretchFactor(1, 1);
    return below;
}

void StreamsView::set_palette(const Palette& palette) {
    View::set_palette(palette);
    canvas_->set_palette(palette);
    by_kind_->set_colours([palette](size_t kind) { return palette.of(static_cast<OpKind>(kind)); });
    by_stream_->set_colours([palette](size_t stream) { return palette.of(static_cast<Stream>(stream)); });
}

bool StreamsView::busy() const {
    return preparing_.busy() || searching_.busy() || canvas_->busy() || figures_.busy();
}

QList<KeyHelp> StreamsView::keys() const {
    return TimeCanvas::keys() +
           QList<KeyHelp>{
               {tr("Left, Right"), tr("the op before and after on its stream")},
               {tr("Up, Down"), tr("the op beside it on the next stream")},
               {tr("Ctrl+F"), tr("find ops")},
               {tr("F3, Shift+F3"), tr("next and previous hit")},
               {tr("Ctrl+1 … Ctrl+9"), tr("in a table: sort by that column; again: the other way")}};
}

void StreamsView::take_step() {
    if (step_ && step_ == document().step()) return;  // the one beside it changed
    step_ = document().step();
    data_ = nullptr;
    take_hits(nullptr);
    stalls_->set(nullptr, {});
    stalls_text_->clear();
    figures_.clear();
    by_kind_->clear();
    by_stream_->clear();
    details_->show_op(step_, focus().selected());
    canvas_->set_lanes(nullptr, nullptr);
    canvas_->set_empty_text(
        step_ ? tr("Preparing %1 ops").arg(count_text(static_cast<int64_t>(step_->timeline.ops.size())))
              : tr("There is no step to show yet. Open a scenario, a plan or a timeline; a "
                   "scenario's step is shown as soon as it is simulated."));
    tell_range();
    preparing_.cancel();
    if (!step_) return;
    preparing_.start<std::shared_ptr<const Data>>(
        [step = step_](const Progress& progress) -> Result<std::shared_ptr<const Data>> {
            const std::shared_ptr<const Timeline> timeline(step, &step->timeline);
            auto worked = std::make_shared<Data>();
            worked->lanes = make_lanes(timeline, step->index.streams, step->statistics.critical_path);
            if (!progress("stalls", -1)) return fail("streams", "interrupted", "", Fault::interrupted);
            worked->stalls = stalls_of(*step);
            return worked;
        },
        [this](Result<std::shared_ptr<const Data>> made) {
            if (made) take_data(std::move(*made));
        });
}

void StreamsView::take_data(std::shared_ptr<const Data> worked) {
    data_ = std::move(worked);
    canvas_->set_empty_text(tr("This step has no ops."));
    canvas_->set_lanes(step_, std::shared_ptr<const Lanes>(data_, &data_->lanes));
    stalls_->set(step_, data_->stalls);
    stalls_text_->setText(summary(*step_, data_->stalls));
    want_statistics();
    search();
}

TimeRange StreamsView::looked_at() const {
    return focus().marked().value_or(focus().range());
}

void StreamsView::tell_range() {
    const TimeRange range = looked_at();
    if (!step_ || range.empty()) return range_text_->clear();
    range_text_->setText(tr("%1 %2 to %3 (%4)")
                             .arg(focus().marked() ? tr("Marked range:") : tr("In view:"),
                                  instant_text(range.begin_ns), instant_text(range.end_ns),
                                  time_text(range.length_ns())));
}

void StreamsView::want_statistics() {
    tell_range();
    const TimeRange range = looked_at();
    if (!data_ || range.empty()) return;
    figures_.want([step = step_, range] { return statistics_of(*step, range); });
}

void StreamsView::search() {
    const QString text = search_->text().trimmed();
    searching_.cancel();
    if (text.isEmpty() || !step_) return take_hits(nullptr);
    Result<OpQuery> query = parse_query(text);
    if (!query) {
        take_hits(nullptr);
        hits_text_->setText(tr("%1: not known; %2")
                                .arg(QString::fromStdString(query.error().found),
                                     QString::fromStdString(query.error().allowed)));
        return;
    }
    using Found = std::shared_ptr<const Hits>;
    searching_.start<Found>(
        [step = step_, query = *query](const Progress&) -> Result<Found> {
            return std::make_shared<const Hits>(find_ops(step->timeline, query));
        },
        [this](Result<Found> found) {
            if (found) take_hits(std::move(*found));
        });
}

void StreamsView::take_hits(std::shared_ptr<const Hits> hits) {
    hits_ = std::move(hits);
    canvas_->set_hits(hits_);
    tell_hits();
}

void StreamsView::tell_hits() {
    const bool any = hits_ && !hits_->in_time.empty();
    previous_hit_->setEnabled(any);
    next_hit_->setEnabled(any);
    if (!hits_) return hits_text_->clear();
    const QString count = count_text(static_cast<int64_t>(hits_->in_time.size()));
    const size_t at = hits_->position(step_->timeline, focus().selected());
    hits_text_->setText(!any ? tr("no op")
                        : at == Hits::npos
                            ? tr("%1 ops").arg(count)
                            : tr("%1 of %2").arg(count_text(static_cast<int64_t>(at) + 1), count));
}

void StreamsView::step_hit(int by) {
    if (typing_.isActive()) {  // Enter before the typing rested
        typing_.stop();
        search();
    }
    if (!hits_) return;
    const TimeRange range = focus().range();
    const OpId op =
        hits_->step(step_->timeline, focus().selected(), by > 0 ? range.begin_ns : range.end_ns, by);
    if (op != kNone) canvas_->select(op);
}

void StreamsView::go_to_stall(const QModelIndex& index) {
    if (!index.isValid()) return;
    const Stall& stall = stalls_->at(index.row());
    // With as much beside it as it is long.
    focus().set_range({stall.begin_ns - stall.length_ns(), stall.end_ns + stall.length_ns()});
    focus().select(stall.after == kNone ? stall.waited_for : stall.after);
}

QByteArray StreamsView::csv() const {
    if (!data_ || figures_.get() == nullptr) return {};
    return by_stream_->csv() + "\n" + by_kind_->csv();
}

void StreamsView::draw(QPainter& painter) {
    canvas_->make_list_now();
    View::draw(painter);
}

}  // namespace headroom::gui
