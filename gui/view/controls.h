// Controls made whole: what they are called, for tests and for those who hear the screen, and what they say
// of themselves.
#pragma once

#include <QString>
#include <QToolButton>

namespace headroom::gui {

template <class Control>
Control* named(Control* control, const char* object, const QString& name, const QString& tip) {
    control->setObjectName(object);
    control->setAccessibleName(name);
    control->setToolTip(tip);
    return control;
}

// A small button whose tip is its name too; the keyboard reaches it. `act` runs as a slot of `owner`.
template <class Act>
QToolButton* tool_button(QObject* owner, const QString& text, const QString& tip, Act act) {
    auto* made = new QToolButton;
    made->setText(text);
    made->setToolTip(tip);
    made->setAccessibleName(tip);
    made->setFocusPolicy(Qt::StrongFocus);
    QObject::connect(made, &QToolButton::clicked, owner, std::move(act));
    return made;
}

}  // namespace headroom::gui
