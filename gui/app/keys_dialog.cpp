#include "gui/app/keys_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

namespace headroom::gui {

KeysDialog::KeysDialog(const QList<std::pair<QString, QList<KeyHelp>>>& sections, QWidget* parent)
    : QDialog(parent) {
    setWindowTitle(tr("Keys"));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(24);
    grid->setColumnStretch(1, 1);
    for (const auto& [name, keys] : sections) {
        if (keys.isEmpty()) continue;
        auto* title = new QLabel(name);
        QFont bold = title->font();
        bold.setBold(true);
        title->setFont(bold);
        title->setContentsMargins(0, 8, 0, 0);
        grid->addWidget(title, grid->rowCount(), 0, 1, 2);
        for (const KeyHelp& key : keys) {
            const int row = grid->rowCount();
            grid->addWidget(new QLabel(key.keys), row, 0);
            auto* does = new QLabel(key.does);
            does->setWordWrap(true);
            grid->addWidget(does, row, 1);
        }
    }
    auto* body = new QWidget;
    body->setLayout(grid);
    auto* scroll = new QScrollArea;
    scroll->setWidget(body);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setAccessibleName(windowTitle());
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(scroll, 1);
    column->addWidget(buttons);
    resize(560, 620);
}

}  // namespace headroom::gui
