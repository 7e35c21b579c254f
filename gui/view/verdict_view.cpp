#include "gui/view/verdict_view.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>

#include "base/text.h"
#include "cli/report.h"
#include "gui/model/answer_tables.h"
#include "gui/model/text.h"
#include "gui/view/knob_panel.h"
#include "gui/view/splitter.h"
#include "gui/view/tier_bar_widget.h"

namespace headroom::gui {
namespace {

QTableView* make_list(TableModel* model, const QString& name) {
    auto* list = new QTableView;
    list->setModel(model);
    list->setAccessibleName(name);
    list->setObjectName(name);
    list->verticalHeader()->hide();
    list->verticalHeader()->setDefaultSectionSize(list->fontMetrics().height() + 6);
    list->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    list->horizontalHeader()->setStretchLastSection(true);
    list->horizontalHeader()->setHighlightSections(false);
    list->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    list->setSelectionBehavior(QAbstractItemView::SelectRows);
    list->setSelectionMode(QAbstractItemView::SingleSelection);
    list->setShowGrid(false);
    list->setAlternatingRowColors(true);
    list->setTabKeyNavigation(false);
    list->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    list->setWordWrap(false);
    return list;
}

QLabel* make_title(const QString& text) {
    auto* label = new QLabel(text);
    QFont bold = label->font();
    bold.setBold(true);
    label->setFont(bold);
    label->setContentsMargins(2, 10, 0, 2);
    return label;
}

}  // namespace

VerdictView::VerdictView(Document& document, Focus& focus)
    : View(tr("Verdict"), document, focus),
      knobs_(new KnobPanel(document)),
      icon_(new QLabel),
      headline_(new QLabel),
      detail_(new QLabel),
      what_(new QLabel),
      tier_column_(new QVBoxLayout),
      figures_(new TableModel(this)),
      gains_(new TableModel(this)),
      remedies_(new TableModel(this)),
      decisions_(new TableModel(this)),
      figure_list_(make_list(figures_, tr("Figures of a step"))),
      gain_list_(make_list(gains_, tr("What more would buy"))),
      remedy_list_(make_list(remedies_, tr("What would make it fit"))),
      decision_list_(make_list(decisions_, tr("Decisions of the plan"))),
      figure_title_(make_title(tr("A step"))),
      gain_title_(make_title(tr("What more would buy"))),
      remedy_title_(make_title(tr("Single changes that make it fit; each was applied and planned"))),
      decision_title_(make_title(tr("The plan"))),
      apply_(new QPushButton(tr("Apply the selected change"))) {
    auto* column = new QVBoxLayout;
    auto* banner = new QHBoxLayout;
    auto* said = new QVBoxLayout;
    headline_->setObjectName("headline");
    headline_->setAccessibleName(tr("Verdict"));
    QFont large = headline_->font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    large.setBold(true);
    headline_->setFont(large);
    icon_->setFont(large);
    icon_->setAccessibleName(tr("Sign of the verdict"));
    detail_->setWordWrap(true);
    detail_->setObjectName("detail");
    what_->setWordWrap(true);
    what_->setObjectName("what");
    said->addWidget(headline_);
    said->addWidget(detail_);
    banner->addWidget(icon_, 0, Qt::AlignTop);
    banner->addLayout(said, 1);
    column->addWidget(what_);
    column->addLayout(banner);
    column->addLayout(tier_column_);
    column->addWidget(remedy_title_);
    column->addWidget(remedy_list_);
    column->addWidget(apply_, 0, Qt::AlignLeft);
    column->addWidget(gain_title_);
    column->addWidget(gain_list_);
    auto* pair = new QGridLayout;
    pair->addWidget(figure_title_, 0, 0);
    pair->addWidget(figure_list_, 1, 0, Qt::AlignTop);
    pair->addWidget(decision_title_, 0, 1);
    pair->addWidget(decision_list_, 1, 1, Qt::AlignTop);
    pair->setColumnStretch(0, 1);
    pair->setColumnStretch(1, 1);
    column->addLayout(pair);
    column->addStretch(1);
    auto* answer = new QWidget;
    answer->setLayout(column);
    auto* answer_scroll = new QScrollArea;
    answer_scroll->setWidget(answer);
    answer_scroll->setWidgetResizable(true);
    answer_scroll->setFrameShape(QFrame::NoFrame);
    answer_scroll->setAccessibleName(tr("Answer"));

    auto* right = new QWidget;
    pages_ = new QStackedLayout(right);
    auto* empty_text =
        new QLabel(tr("Open a scenario, a plan or a timeline: File > Open (Ctrl+O), or drop a file here."));
    empty_text->setAlignment(Qt::AlignCenter);
    empty_text->setWordWrap(true);
    empty_ = empty_text;
    pages_->addWidget(empty_);
    pages_->addWidget(answer_scroll);

    auto* knob_scroll = new QScrollArea;
    knob_scroll->setWidget(knobs_);
    knob_scroll->setWidgetResizable(true);
    knob_scroll->setFrameShape(QFrame::NoFrame);
    knob_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    knob_scroll->setMinimumWidth(360);
    knob_scroll->setAccessibleName(tr("Knobs"));
    auto* split = new Splitter(Qt::Horizontal, tr("Width of the knobs"));
    split->addWidget(knob_scroll);
    split->addWidget(right);
    split->setStretchFactor(1, 1);
    split->setSizes({430, 900});
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(split);

    apply_->setToolTip(tr("Turns the knob that the change names; undo takes it back"));
    connect(apply_, &QPushButton::clicked, this,
            [this] { apply_remedy(remedy_list_->currentIndex().row()); });
    connect(remedy_list_, &QTableView::activated, this,
            [this](const QModelIndex& at) { apply_remedy(at.row()); });
    connect(&document, &Document::opened, this, &VerdictView::show_answer);
    connect(&document, &Document::verdict_changed, this, &VerdictView::show_verdict);
    connect(&document, &Document::answer_changed, this, &VerdictView::show_answer);
    connect(&document.knobs(), &Knobs::changed, this, &VerdictView::show_banner);
    connect(&document, &Document::busy_changed, this, &VerdictView::show_banner);
    show_answer();
}

void VerdictView::set_palette(const Palette& palette) {
    View::set_palette(palette);
    for (TierBarWidget* t : tiers_) t->set_palette(palette);
    show_banner();
}

QByteArray VerdictView::csv() const {
    return document().verdict()
               ? csv_of(tier_table(document().answer() ? document().answer()->evaluation.tiers
                                                       : document().verdict()->tiers))
               : QByteArray();
}

bool VerdictView::has_content() const {
    return document().verdict().has_value();
}

bool VerdictView::busy() const {
    return document().busy();
}

void VerdictView::show_verdict() {
    const std::optional<Verdict> verdict = document().verdict();
    // An answer that is older than the verdict says nothing about it; until the new one comes the sums stand
    // alone.
    const std::array<TierNeed, kTiers> tiers = document().answer_current()
                                                   ? document().answer()->evaluation.tiers
                                               : verdict ? verdict->tiers
                                                         : std::array<TierNeed, kTiers>{};
    size_t used = 0;
    for (size_t t = 0; t < kTiers; ++t) {
        if (tiers[t].need_bytes == 0) continue;
        if (used == tiers_.size()) {
            tiers_.push_back(new TierBarWidget);
            tiers_.back()->set_palette(colours());
            tier_column_->addWidget(tiers_.back());
        }
        tiers_[used]->show_tier(static_cast<Tier>(t), tiers[t]);
        tiers_[used]->show();
        ++used;
    }
    for (; used < tiers_.size(); ++used) tiers_[used]->hide();
    show_banner();
}

void VerdictView::show_banner() {
    const std::optional<Verdict> verdict = document().verdict();
    pages_->setCurrentIndex(verdict ? 1 : 0);
    if (!verdict) return;
    const bool current = document().answer_current();
    const bool fits = current ? document().answer()->fits() : verdict->fits;
    icon_->setText(QString(fits ? QChar(0x2714) : QChar(0x2718)));
    headline_->setText(fits ? tr("Fits") : tr("Does not fit"));
    for (QLabel* l : {icon_, headline_}) {
        QPalette p = l->palette();
        p.setColor(QPalette::WindowText, fits ? colours().good : colours().bad);
        l->setPalette(p);
    }
    QString said;
    if (current) {
        said = text_of(cli::verdict_text(*document().answer()));
        said = said.mid(said.indexOf(':') + 2);
        if (!document().answer_final()) said += tr("  (working out what more would buy)");
    } else {
        said = !document().busy()
                   ? tr("Before the last change of a knob; the message says what stands against it.")
               : fits ? tr("At least one plan fits; searching for the fastest.")
                      : tr("No plan fits; searching for the nearest one.");
    }
    detail_->setText(said);
}

void VerdictView::show_answer() {
    const std::shared_ptr<const Answer> a = document().answer();
    const Plan* plan = document().plan();
    if (plan == nullptr && document().scenario()) plan = &document().scenario()->plan;
    what_->setText(plan == nullptr
                       ? QString()
                       : tr("%1 on %2, context %3 tokens; rates %4")
                             .arg(text_of(plan->model.name),
                                  plan->gpus > 1
                                      ? QString("%1 x %2").arg(plan->gpus).arg(text_of(plan->hardware.title))
                                      : text_of(plan->hardware.title),
                                  count_text(plan->context.count()),
                                  plan->hardware.calibrated
                                      ? tr("calibrated: %1").arg(text_of(plan->hardware.provenance))
                                      : tr("UNCALIBRATED, from %1").arg(text_of(plan->hardware.provenance))));
    figures_->set(a ? figure_table(*a) : TableData{});
    gains_->set(a ? gain_table(*a) : TableData{});
    remedies_->set(a ? remedy_table(*a) : TableData{});
    decisions_->set(a ? decision_table(a->plan, document().scenario().get()) : TableData{});
    const bool gains = a && !a->gains.empty(), remedies = a && !a->remedies.empty();
    const bool hopeless = a && !a->fits() && a->remedies_tried && a->remedies.empty();
    remedy_title_->setText(hopeless ? tr("No single change that was tried makes it fit")
                                    : tr("Single changes that make it fit; each was applied and planned"));
    for (QWidget* w : {static_cast<QWidget*>(gain_title_), static_cast<QWidget*>(gain_list_)})
        w->setVisible(gains);
    for (QWidget* w : {static_cast<QWidget*>(remedy_list_), static_cast<QWidget*>(apply_)})
        w->setVisible(remedies);
    remedy_title_->setVisible(remedies || hopeless);
    for (QWidget* w : {static_cast<QWidget*>(figure_title_), static_cast<QWidget*>(figure_list_),
                       static_cast<QWidget*>(decision_title_), static_cast<QWidget*>(decision_list_)})
        w->setVisible(a != nullptr);
    if (remedies) remedy_list_->selectRow(0);
    fit_heights();
    show_verdict();
}

// Lists as tall as their rows: the page scrolls, not each list.
void VerdictView::fit_heights() {
    for (QTableView* list : {figure_list_, gain_list_, remedy_list_, decision_list_}) {
        const int rows = list->model()->rowCount();
        const int height = list->horizontalHeader()->sizeHint().height() +
                           rows * list->verticalHeader()->defaultSectionSize() + 4;
        list->setFixedHeight(height);
    }
}

void VerdictView::apply_remedy(int row) {
    const std::shared_ptr<const Answer> a = document().answer();
    if (!a || row < 0 || row >= static_cast<int>(a->remedies.size())) return;
    const QString setting = text_of(a->remedies[static_cast<size_t>(row)].setting);
    const qsizetype equals = setting.indexOf('=');
    document().knobs().turn(setting.left(equals), setting.mid(equals + 1));
}

}  // namespace headroom::gui
