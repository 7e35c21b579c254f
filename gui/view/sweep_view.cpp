#include "gui/view/sweep_view.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedLayout>
#include <QTableView>

#include "base/text.h"
#include "cli/report.h"
#include "gui/model/text.h"
#include "gui/paint/curve_style.h"
#include "gui/view/splitter.h"

namespace headroom::gui {
namespace {

constexpr int kSettle_ms = 300;  // knobs that still turn are waited for

}  // namespace

SweepView::SweepView(Document& document, Focus& focus, QWidget* parent)
    : View(tr("Sweep"), document, focus, parent),
      pages_(new QStackedLayout(this)),
      missing_(new QLabel),
      body_(new QWidget),
      from_(new QLineEdit("64Ki")),
      to_(new QLineEdit("4Mi")),
      go_(new QPushButton),
      progress_(new QProgressBar),
      limits_(new QLabel),
      complaint_(new QLabel),
      note_(new QLabel),
      rows_(new QTableView) {
    missing_->setAlignment(Qt::AlignCenter);
    missing_->setWordWrap(true);
    limits_->setWordWrap(true);
    limits_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    complaint_->setWordWrap(true);
    complaint_->setObjectName("complaint");
    auto* charts = new QWidget;
    auto* stack = new QVBoxLayout(charts);
    stack->setContentsMargins(0, 0, 0, 0);
    stack->setSpacing(0);
    for (size_t i = 0; i < panels_.size(); ++i) {
        panels_[i] = new SweepPanel(static_cast<SweepPanel::Quantity>(i), i + 1 == panels_.size());
        stack->addWidget(panels_[i], i == 0 ? 6 : 5);
        connect(panels_[i], &SweepPanel::picked, this, &SweepView::pick);
        connect(panels_[i], &SweepPanel::opened, this, [this](size_t p) { open_plan(static_cast<int>(p)); });
    }
    rows_->setModel(&table_);
    rows_->setSelectionBehavior(QAbstractItemView::SelectRows);
    rows_->setSelectionMode(QAbstractItemView::SingleSelection);
    rows_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    rows_->setAlternatingRowColors(true);
    rows_->setTabKeyNavigation(false);
    rows_->verticalHeader()->hide();
    rows_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    rows_->horizontalHeader()->setHighlightSections(false);
    rows_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    // Rows that come one by one: the header alone does not look at them again.
    const auto fit_columns = [this] {
        rows_->horizontalHeader()->resizeSections(QHeaderView::ResizeToContents);
    };
    connect(&table_, &QAbstractItemModel::rowsInserted, rows_, fit_columns);
    connect(&table_, &QAbstractItemModel::dataChanged, rows_, fit_columns);
    rows_->horizontalHeader()->setStretchLastSection(true);
    rows_->setAccessibleName(tr("Points of the sweep"));
    rows_->setObjectName("points");
    auto* halves = new Splitter(Qt::Horizontal, tr("Width of the charts"));
    halves->addWidget(charts);
    halves->addWidget(rows_);
    halves->setStretchFactor(0, 3);
    halves->setStretchFactor(1, 2);
    halves->setObjectName("halves");
    connect(halves, &QSplitter::splitterMoved, this, [this] { moved_ = true; });
    halves_ = halves;
    auto* column = new QVBoxLayout(body_);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(4);
    column->addLayout(make_controls());
    column->addWidget(complaint_);
    column->addWidget(note_);
    column->addWidget(halves, 1);
    column->addWidget(limits_);
    pages_->addWidget(missing_);
    pages_->addWidget(body_);

    wanted_.setSingleShot(true);
    wanted_.setInterval(kSettle_ms);
    connect(&wanted_, &QTimer::timeout, this, &SweepView::start);
    connect(&document, &Document::opened, this, &SweepView::take_document);
    connect(&document, &Document::verdict_changed, this, &SweepView::take_document);
    connect(&run_, &SweepRun::found, this, [this](const SweepPoint& point) {
        table_.insert(point);
        show_points();
    });
    connect(&run_, &SweepRun::progressed, this, [this](const QString& text, double share) {
        progress_->setValue(static_cast<int>(share * 1000));
        progress_->setFormat(text);
    });
    connect(&run_, &SweepRun::failed, this,
            [this](const Error& error) { failure_ = QString::fromStdString(error.text()); });
    connect(&run_, &SweepRun::finished, this, &SweepView::show_state);
    connect(rows_, &QTableView::activated, this, [this](const QModelIndex& at) { open_plan(at.row()); });
    connect(rows_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& at) {
                for (SweepPanel* panel : panels_)
                    panel->mark(at.isValid() ? std::optional<size_t>(static_cast<size_t>(at.row()))
                                             : std::nullopt);
            });
    restyle();
    take_document();
}

void SweepView::set_palette(const Palette& palette) {
    View::set_palette(palette);
    restyle();
}

void SweepView::restyle() {
    for (size_t i = 0; i < boxes_.size(); ++i)
        boxes_[i]->setIcon(QIcon(curve_pixmap(curve_style(i, colours()), boxes_[i]->iconSize(),
                                              devicePixelRatioF(), colours().panel)));
    for (SweepPanel* panel : panels_) panel->set_palette(colours());
    complaint_->setStyleSheet("color: " + colours().bad.name());
}

void SweepView::take_document() {
    const std::shared_ptr<const Scenario> scenario = document().scenario();
    if (scenario) {
        opened_here_ = false;
        if (scenario == scenario_) return;
        const bool other = !scenario_ || scenario_->path != scenario->path;
        scenario_ = scenario;
        if (other) table_.clear();
        show_points();
        pages_->setCurrentWidget(body_);
        want();
        return;
    }
    // The sweep that a plan came from stays beside it.
    if (opened_here_ && document().kind() == Document::Kind::plan && document().path().empty()) return;
    opened_here_ = false;
    run_.cancel();
    wanted_.stop();
    scenario_ = nullptr;
    table_.clear();
    show_points();
    missing_->setText(
        document().kind() == Document::Kind::none
            ? tr("Open a scenario: its context is swept, with the best plan of each strategy at each.")
            : tr("A sweep needs a scenario, which leaves decisions open. What is open has one plan."));
    pages_->setCurrentWidget(missing_);
}

void SweepView::showEvent(QShowEvent* event) {
    View::showEvent(event);
    if (dirty_) wanted_.start();
}

void SweepView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    if (!moved_) halves_->setSizes({width() * 5 / 9, width() * 4 / 9});
}

void SweepView::want() {
    if (!scenario_) return;
    dirty_ = true;
    if (isVisible()) wanted_.start();
}

void SweepView::start() {
    if (!scenario_) return;
    wanted_.stop();
    dirty_ = false;
    failure_.clear();
    const std::vector<Tokens> all = contexts();
    const std::vector<std::string> names = chosen();
    run_.cancel();
    table_.clear();
    show_points();
    if (!all.empty() && !names.empty()) run_.start(scenario_, all, names);
    show_state();
}

void SweepView::show_points() {
    auto picture = std::make_shared<SweepPicture>();
    picture->points = table_.points();
    for (size_t i = 0; i < boxes_.size(); ++i) {
        if (!boxes_[i]->isChecked()) continue;
        picture->strategies.push_back(boxes_[i]->objectName().toStdString());
        picture->styles.push_back(i);
    }
    QStringList words;
    for (SweepLimit& limit : sweep_limits(table_.points())) {
        const auto& drawn = picture->strategies;
        if (std::find(drawn.begin(), drawn.end(), limit.strategy) == drawn.end()) continue;
        const QString name = text_of(limit.strategy);
        if (!limit.runs)
            words << tr("%1 cannot run (%2)").arg(name, text_of(limit.why_not));
        else if (limit.stops_at && limit.fits_to)
            words << tr("%1 fits up to %2, not at %3 (%4 memory)")
                         .arg(name, text_of(format_tokens(*limit.fits_to)),
                              text_of(format_tokens(*limit.stops_at)),
                              limit.tier ? text_of(name_of(*limit.tier)) : QString());
        else if (limit.stops_at)
            words << tr("%1 fits at none of these contexts").arg(name);
        else
            words << tr("%1 fits at all of these contexts").arg(name);
        picture->limits.push_back(std::move(limit));
    }
    limits_->setText(words.join("; ") + (words.isEmpty() ? "" : "."));
    limits_->setVisible(!words.isEmpty());
    if (!picture->points.empty()) {
        picture->from = picture->to = picture->points.front().context;
        for (const SweepPoint& p : picture->points) {
            picture->from = std::min(picture->from, p.context);
            picture->to = std::max(picture->to, p.context);
        }
        // The axis is the one that is asked for from the first point on.
        const Result<Tokens> from = parse_tokens(from_->text().trimmed().toStdString(), ""),
                             to = parse_tokens(to_->text().trimmed().toStdString(), "");
        if (from && from->count() > 0) picture->from = std::min(picture->from, *from);
        if (to && to->count() <= kMaxContext) picture->to = std::max(picture->to, *to);
    }
    const std::shared_ptr<const SweepPicture> shown = picture->points.empty() ? nullptr : picture;
    for (SweepPanel* panel : panels_) panel->show_picture(shown);
    const QModelIndex current = rows_->currentIndex();
    if (shown && current.isValid()) {
        for (SweepPanel* panel : panels_) panel->mark(static_cast<size_t>(current.row()));
    }
    show_state();
}

void SweepView::pick(size_t point) {
    rows_->selectRow(static_cast<int>(point));
}

void SweepView::open_plan(int row) {
    if (row < 0 || row >= table_.rowCount()) return;
    const SweepPoint point = table_.points()[static_cast<size_t>(row)];
    if (!point.runs) return;
    run_.cancel();
    wanted_.stop();
    Q_EMIT plan_chosen(point.plan);
    opened_here_ = true;
    document().open_plan(
        point.plan,
        tr("%1 at %2 tokens").arg(text_of(point.strategy), text_of(format_tokens(point.context))));
    show_state();
}

QByteArray SweepView::csv() const {
    return has_content() ? QByteArray::fromStdString(cli::sweep_csv(table_.points())) : QByteArray();
}

QList<KeyHelp> SweepView::keys() const {
    return {{tr("Up Down"), tr("Move through the points of the table; the charts mark them")},
            {tr("Left Right Up Down (in a chart)"), tr("To the next context, or the next strategy")},
            {tr("Enter"), tr("Open the plan of the point")},
            {tr("Enter (in a context)"), tr("Sweep the contexts again")},
            {tr("Double click"), tr("On a point: open its plan")}};
}

}  // namespace headroom::gui
