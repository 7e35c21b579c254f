#include "gui/view/splitter.h"

#include <QCoreApplication>
#include <QFocusEvent>
#include <QKeyEvent>
#include <QPainter>
#include <optional>

namespace headroom::gui {
namespace {

constexpr int kStep = 16;

class Handle : public QSplitterHandle {
public:
    Handle(Qt::Orientation orientation, QSplitter* parent, const QString& name)
        : QSplitterHandle(orientation, parent) {
        setFocusPolicy(Qt::StrongFocus);
        setAccessibleName(name);
        setToolTip(
            QCoreApplication::translate("headroom::gui::Splitter", "%1: drag, or the arrow keys").arg(name));
    }

protected:
    void keyPressEvent(QKeyEvent* event) override {
        const std::optional<int> to = target(event->key());
        if (!to) return QSplitterHandle::keyPressEvent(event);
        moveSplitter(*to);
    }
    void paintEvent(QPaintEvent* event) override {
        QSplitterHandle::paintEvent(event);
        if (hasFocus()) QPainter(this).fillRect(rect(), palette().highlight());
    }
    void focusInEvent(QFocusEvent* event) override {
        update();
        QSplitterHandle::focusInEvent(event);
    }
    void focusOutEvent(QFocusEvent* event) override {
        update();
        QSplitterHandle::focusOutEvent(event);
    }

private:
    // Where a key moves it: pixels from the splitter's beginning.
    std::optional<int> target(int key) const {
        const bool across = orientation() == Qt::Horizontal;
        const int at = across ? x() : y();
        if (key == (across ? Qt::Key_Left : Qt::Key_Up)) return at - kStep;
        if (key == (across ? Qt::Key_Right : Qt::Key_Down)) return at + kStep;
        if (key == Qt::Key_Home) return 0;
        if (key == Qt::Key_End) return across ? splitter()->width() : splitter()->height();
        return std::nullopt;
    }
};

}  // namespace

Splitter::Splitter(Qt::Orientation orientation, const QString& name, QWidget* parent)
    : QSplitter(orientation, parent), name_(name) {
    setChildrenCollapsible(false);
}

QSplitterHandle* Splitter::createHandle() {
    return new Handle(orientation(), this, name_);
}

}  // namespace headroom::gui
