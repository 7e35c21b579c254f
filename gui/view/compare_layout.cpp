// The controls of CompareView and where they stand.
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/model/comparison_model.h"
#include "gui/model/text.h"
#include "gui/view/compare_canvas.h"
#include "gui/view/compare_view.h"
#include "gui/view/controls.h"
#include "gui/view/error_chart.h"
#include "gui/view/outside_delegate.h"
#include "gui/view/splitter.h"

namespace headroom::gui {
QWidget* CompareView::make_empty() {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    open_ =
        named(new QPushButton(tr("&Open a measured run beside this prediction…")), "compare_open",
              tr("Open a measured run"), tr("The timeline that `headroom run -o` wrote, of the same plan"));
    empty_->setAlignment(Qt::AlignCenter);
    column->addStretch(1);
    column->addWidget(empty_);
    column->addWidget(open_, 0, Qt::AlignHCenter);
    column->addStretch(1);
    connect(open_, &QPushButton::clicked, this, &CompareView::ask_measured);
    return page;
}

QWidget* CompareView::make_bar() {
    worst_ = named(new QPushButton(tr("&Jump to the worst")), "compare_worst", tr("Jump to the worst"),
                   tr("Selects the operation whose duration differs most: of the selected row, else of the "
                      "kind with the largest error (J)"));
    tolerance_ = named(new QDoubleSpinBox, "compare_tolerance", tr("Tolerance"),
                       tr("The largest error that counts as right, in percent of what was measured"));
    tolerance_->setRange(0, 1000);
    tolerance_->setDecimals(1);
    tolerance_->setSuffix(" %");
    tolerance_->setValue(100 * model_->tolerance());
    category_ = named(new QComboBox, "compare_category", tr("Memory shown"),
                      tr("All live bytes of each tier, or those of one category"));
    category_->addItem(tr("all memory"), static_cast<int>(Category::count_));
    for (size_t c = 0; c < kCategories; ++c)
        category_->addItem(label_of(static_cast<Category>(c)), static_cast<int>(c));
    with_selection_ = named(
        new QCheckBox(tr("Pages as &run")), "compare_with_selection", tr("Pages as the run selected them"),
        tr("Predicts with the pages that this run selected and recorded, not with those that "
           "the plan draws: what is left is an error of cost, not of traffic"));
    open_other_ =
        named(new QPushButton(tr("&Open another run…")), "compare_open_other",
              tr("Open another measured run"), tr("Lays another measured timeline beside the prediction"));
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 6, 8, 0);
    auto* label = new QLabel(tr("&Tolerance"));
    label->setBuddy(tolerance_);
    auto* memory = new QLabel(tr("&Memory"));
    memory->setBuddy(category_);
    row->addWidget(summary_, 1);
    row->addWidget(label);
    row->addWidget(tolerance_);
    row->addSpacing(8);
    row->addWidget(memory);
    row->addWidget(category_);
    row->addSpacing(8);
    row->addWidget(with_selection_);
    row->addWidget(worst_);
    row->addWidget(open_other_);
    connect(worst_, &QPushButton::clicked, this, &CompareView::jump_to_worst);
    connect(open_other_, &QPushButton::clicked, this, &CompareView::ask_measured);
    connect(with_selection_, &QCheckBox::toggled, this, &CompareView::take_steps);
    connect(tolerance_, &QDoubleSpinBox::valueChanged, this, &CompareView::set_tolerance);
    connect(category_, &QComboBox::currentIndexChanged, this,
            [this] { canvas_->set_category(static_cast<Category>(category_->currentData().toInt())); });
    return bar;
}

QWidget* CompareView::make_table() {
    group_ = named(new QComboBox, "compare_group", tr("Group"), tr("Which rows are listed"));
    group_->addItem(tr("all groups"), QString());
    for (const auto& [name, label] : {std::pair{"step", tr("step")},
                                      {"tier", tr("tiers")},
                                      {"category", tr("categories")},
                                      {"stream", tr("streams")},
                                      {"kind", tr("kinds of operation")}})
        group_->addItem(label, QString(name));
    judged_ = named(new QCheckBox(tr("ju&dged only")), "compare_judged", tr("Judged only"),
                    tr("Leaves out what is less than 0.5 % of its group"));
    named(table_, "compare_table", tr("Errors of the prediction"), {});
    table_->setModel(filter_);
    outside_ = new OutsideDelegate(table_);
    table_->setItemDelegate(outside_);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder);  // as compared
    sort_by_keys(table_);
    table_->setTabKeyNavigation(false);
    table_->setShowGrid(false);
    table_->setWordWrap(false);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 5);
    QHeaderView* header = table_->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(ComparisonModel::what, QHeaderView::Stretch);
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(8, 0, 0, 4);
    auto* filters = new QHBoxLayout;
    filters->addWidget(group_);
    filters->addWidget(judged_);
    filters->addStretch(1);
    column->addLayout(filters);
    column->addWidget(table_, 1);
    connect(group_, &QComboBox::currentIndexChanged, this,
            [this] { filter_->set_group(group_->currentData().toString()); });
    connect(judged_, &QCheckBox::toggled, this, [this](bool on) { filter_->set_judged_only(on); });
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { go_to(place_of(*comparison(), filter_->row(index))); });
    return part;
}

QWidget* CompareView::make_chart() {
    unit_ = named(new QComboBox, "compare_unit", tr("Unit of the chart"),
                  tr("Errors in percent of what was measured, or in time"));
    unit_->addItems({tr("error in percent"), tr("error in time")});
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 8, 4);
    auto* units = new QHBoxLayout;
    units->addWidget(unit_);
    units->addStretch(1);
    column->addLayout(units);
    column->addWidget(chart_, 1);
    connect(unit_, &QComboBox::currentIndexChanged, this, [this](int i) { chart_->set_in_time(i == 1); });
    connect(chart_, &ErrorChart::kind_clicked, this, [this](OpKind kind) {
        go_to({comparison()->worst_of_kind[static_cast<size_t>(kind)], {}});
    });
    return part;
}

QWidget* CompareView::make_below() {
    auto* split = new Splitter(Qt::Horizontal, tr("Width of the table"));
    split->addWidget(make_table());
    split->addWidget(make_chart());
    split->setSizes({900, 600});
    auto* below = new QWidget;
    auto* rows = new QVBoxLayout(below);
    rows->setContentsMargins(0, 0, 0, 0);
    op_->setContentsMargins(8, 0, 8, 0);
    rows->addWidget(op_);
    rows->addWidget(split, 1);
    return below;
}

}  // namespace headroom::gui
