#include "gui/app/welcome.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "base/file.h"
#include "plan/plan.h"

namespace headroom::gui {
namespace {

QLabel* title(const QString& text, double scale) {
    auto* label = new QLabel(text);
    QFont font = label->font();
    font.setBold(true);
    font.setPointSizeF(font.pointSizeF() * scale);
    label->setFont(font);
    return label;
}

QListWidget* make_list(const QString& name) {
    auto* list = new QListWidget;
    list->setAccessibleName(name);
    list->setUniformItemSizes(true);
    list->setAlternatingRowColors(true);
    return list;
}

}  // namespace

Welcome::Welcome(QWidget* parent)
    : QWidget(parent),
      scenarios_(make_list(tr("Shipped scenarios"))),
      recent_(make_list(tr("Recent files"))) {
    scenarios_->setObjectName("shipped_scenarios");
    recent_->setObjectName("recent_files");
    auto* what =
        new QLabel(tr("Does a training context fit a GPU, by how much, what does a step cost and why, and "
                      "what to change."));
    what->setWordWrap(true);
    auto* open = new QPushButton(tr("Open a scenario, a plan or a timeline…"));
    connect(open, &QPushButton::clicked, this, &Welcome::open_asked);
    auto* left = new QVBoxLayout;
    left->addWidget(title(tr("Scenarios to begin with"), 1.1));
    left->addWidget(scenarios_, 1);
    auto* right = new QVBoxLayout;
    right->addWidget(title(tr("Open last"), 1.1));
    right->addWidget(recent_, 1);
    right->addWidget(open);
    auto* lists = new QHBoxLayout;
    lists->addLayout(left, 3);
    lists->addLayout(right, 2);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(32, 24, 32, 24);
    column->addWidget(title("Headroom", 2.0));
    column->addWidget(what);
    column->addSpacing(12);
    column->addLayout(lists, 1);
    const auto choose = [this](const QListWidgetItem* item) {
        Q_EMIT chosen(item->data(Qt::UserRole).toString());
    };
    for (QListWidget* list : {scenarios_, recent_}) {
        connect(list, &QListWidget::itemActivated, this, choose);
        connect(list, &QListWidget::itemClicked, this, choose);
    }

    const Result<std::filesystem::path> shipped = data_folder();
    if (!shipped) return;
    const QDir folder(QString::fromStdString((*shipped / "scenarios").string()));
    for (const QFileInfo& file : folder.entryInfoList({"*.toml"}, QDir::Files, QDir::Name)) {
        const std::string path = file.filePath().toStdString();
        const Result<Scenario> scenario = read_scenario(path, *shipped);
        if (!scenario) continue;
        const QString about =
            QString::fromStdString(scenario->title.empty() ? scenario->name : scenario->title);
        auto* item = new QListWidgetItem(about, scenarios_);
        item->setToolTip(file.filePath());
        item->setData(Qt::UserRole, file.filePath());
    }
    if (scenarios_->count() > 0) scenarios_->setCurrentRow(0);
}

void Welcome::set_recent(const QStringList& files) {
    recent_->clear();
    for (const QString& file : files) {
        auto* item = new QListWidgetItem(QFileInfo(file).fileName(), recent_);
        item->setToolTip(file);
        item->setData(Qt::UserRole, file);
    }
}

}  // namespace headroom::gui
