#include "gui/view/path_field.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QToolButton>

namespace headroom::gui {

PathField::PathField(Kind kind, const QString& name, const QString& filter, const QString& empty,
                     QWidget* parent)
    : QWidget(parent),
      kind_(kind),
      name_(name),
      filter_(filter),
      line_(new QLineEdit(this)),
      button_(new QToolButton(this)) {
    line_->setPlaceholderText(empty);
    line_->setAccessibleName(name);
    line_->setClearButtonEnabled(kind != Kind::save_file);
    button_->setText("…");
    button_->setToolTip(tr("Choose: %1").arg(name));
    button_->setAccessibleName(button_->toolTip());
    button_->setFocusPolicy(Qt::StrongFocus);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    row->addWidget(line_, 1);
    row->addWidget(button_);
    setFocusProxy(line_);
    connect(line_, &QLineEdit::textChanged, this, &PathField::changed);
    connect(button_, &QToolButton::clicked, this, &PathField::browse);
}

QString PathField::path() const {
    return line_->text().trimmed();
}

void PathField::set_path(const QString& path) {
    line_->setText(path);
}

void PathField::browse() {
    QString chosen;
    switch (kind_) {
        case Kind::open_file:
            chosen = QFileDialog::getOpenFileName(window(), name_, path(), filter_);
            break;
        case Kind::save_file:
            chosen = QFileDialog::getSaveFileName(window(), name_, path(), filter_);
            break;
        case Kind::folder:
            chosen = QFileDialog::getExistingDirectory(window(), name_, path());
            break;
    }
    if (!chosen.isEmpty()) line_->setText(chosen);
}

}  // namespace headroom::gui
