#include "gui/app/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>

namespace headroom::gui {

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent),
      icon_(new QLabel(this)),
      label_(new QLabel(this)),
      close_(new QToolButton(this)),
      palette_(Palette::light()) {
    setObjectName("message_bar");
    setAccessibleName(tr("Message"));
    label_->setWordWrap(true);
    label_->setTextFormat(Qt::PlainText);
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    close_->setText(QString(QChar(0x2715)));
    close_->setAutoRaise(true);
    close_->setToolTip(tr("Close this message"));
    close_->setAccessibleName(close_->toolTip());
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(10, 6, 6, 6);
    row->addWidget(icon_);
    row->addWidget(label_, 1);
    row->addWidget(close_);
    connect(close_, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void MessageBar::show_error(const Error& error) {
    is_error_ = true;
    QString text = QString::fromStdString(error.where);
    if (!text.isEmpty()) text += ": ";
    text += QString::fromStdString(error.found);
    if (!error.allowed.empty()) text += "\n" + tr("Allowed: %1").arg(QString::fromStdString(error.allowed));
    label_->setText(text);
    restyle();
    show();
}

void MessageBar::show_note(const QString& text) {
    is_error_ = false;
    label_->setText(text);
    restyle();
    show();
}

void MessageBar::set_palette(const Palette& palette) {
    palette_ = palette;
    restyle();
}

QString MessageBar::text() const {
    return label_->text();
}

void MessageBar::restyle() {
    const QColor edge = is_error_ ? palette_.bad : palette_.accent;
    const auto kind = is_error_ ? QStyle::SP_MessageBoxCritical : QStyle::SP_MessageBoxInformation;
    icon_->setPixmap(style()->standardIcon(kind).pixmap(18, 18));
    setStyleSheet(
        QString(
            "#message_bar { background: %1; border-left: 4px solid %2; } #message_bar QLabel { color: %3; }")
            .arg(palette_.panel.name(), edge.name(), palette_.text.name()));
}

}  // namespace headroom::gui
