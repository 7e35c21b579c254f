// Controls made whole: what they are called, for tests and for those who hear the screen, and what they say
// of themselves.
#pragma once

#include <QEvent>
#include <QHeaderView>
#include <QShortcut>
#include <QString>
#include <QTableView>
#include <QToolButton>
#include <algorithm>

namespace headroom::gui {

template <class Control>
Control* named(Control* control, const char* object, const QString& name, const QString& tip) {
    control->setObjectName(object);
    control->setAccessibleName(name);
    control->setToolTip(tip);
    return control;
}

// Turns a control only where it has the focus: a wheel that scrolls the panel around it passes over it.
class WheelGuard : public QObject {
public:
    explicit WheelGuard(QWidget* control) : QObject(control) {
        control->setFocusPolicy(Qt::StrongFocus);
        control->installEventFilter(this);
    }
    bool eventFilter(QObject* of, QEvent* event) override {
        if (event->type() != QEvent::Wheel || static_cast<QWidget*>(of)->hasFocus()) return false;
        event->ignore();
        return true;
    }
};

// Sorts by column with Ctrl+1, Ctrl+2, ..., and the other way when pressed again: what a click on a header
// does.
inline void sort_by_keys(QTableView* table) {
    for (int column = 0; column < std::min(9, table->model()->columnCount()); ++column) {
        auto* keys = new QShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + column)), table);
        keys->setContext(Qt::WidgetShortcut);
        QObject::connect(keys, &QShortcut::activated, table, [table, column] {
            const QHeaderView* header = table->horizontalHeader();
            const bool again = header->sortIndicatorSection() == column;
            table->sortByColumn(column, again && header->sortIndicatorOrder() == Qt::DescendingOrder
                                            ? Qt::AscendingOrder
                                            : Qt::DescendingOrder);
        });
    }
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
