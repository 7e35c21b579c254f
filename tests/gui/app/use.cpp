#include "gui/app/use.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QCryptographicHash>
#include <QFileDialog>
#include <QHeaderView>
#include <QImage>
#include <QLineEdit>
#include <QMouseEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QSplitter>
#include <QStyleOptionSlider>
#include <QStyleOptionSpinBox>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>

#include <filesystem>

#include "gui/becomes.h"

namespace headroom::gui::test {
namespace {

constexpr int kSoon_ms = 5'000;

// The field of a combo box, the bars of a scroll area, a table's headers and corner, a list that is open.
bool is_part(const QWidget* w, const QWidget& root) {
    if (qobject_cast<const QScrollBar*>(w) || qobject_cast<const QHeaderView*>(w)) return true;
    if (const auto* handle = qobject_cast<const QSplitterHandle*>(w))
        return handle->splitter()->handle(0) == handle;  // before the first part there is nothing to move
    if (w->objectName().startsWith("qt_") && qobject_cast<const QTabBar*>(w) == nullptr) return true;
    for (const QWidget* p = w->parentWidget(); p != nullptr && p != &root; p = p->parentWidget()) {
        if (qobject_cast<const QComboBox*>(p) || qobject_cast<const QAbstractSpinBox*>(p) ||
            qobject_cast<const QLineEdit*>(p) || qobject_cast<const QAbstractItemView*>(p) ||
            qobject_cast<const QTabBar*>(p))
            return true;
    }
    return false;
}

// Where the pointer presses it.
QPoint point_of(const QWidget& w) {
    // The words beside a box may end before its middle.
    if (qobject_cast<const QCheckBox*>(&w)) return {8, w.height() / 2};
    return w.rect().center();
}

void choose_by_mouse(QComboBox& box) {
    const int other = box.currentIndex() == 0 ? 1 : 0;
    ASSERT_GT(box.count(), other);
    QTest::mouseClick(&box, Qt::LeftButton, {}, {box.width() - 8, box.height() / 2});
    ASSERT_TRUE(becomes([&] { return box.view()->isVisible(); }));
    const QModelIndex index = box.model()->index(other, box.modelColumn());
    box.view()->scrollTo(index);
    QWidget* list = box.view()->viewport();
    // For a moment after the press that opened it a click chooses nothing.
    EXPECT_TRUE(becomes(
        [&] {
            QTest::qWait(QApplication::doubleClickInterval());
            const QPoint at(list->width() / 2, box.view()->visualRect(index).center().y());
            QTest::mouseMove(list, at);
            QTest::mouseClick(list, Qt::LeftButton, {}, at);
            return !box.view()->isVisible();
        },
        kSoon_ms));
}

// Another row than the current one.
int other_row(const QAbstractItemView& list) {
    return list.currentIndex().isValid() && list.currentIndex().row() == 0 ? 1 : 0;
}

// Pressed, pulled and let go.
void drag(QWidget& w, const QPoint& by) {
    const QPoint from = w.rect().center();
    const auto send = [&w](QEvent::Type type, const QPoint& at, Qt::MouseButton button,
                           Qt::MouseButtons held) {
        QMouseEvent event(type, at, w.mapToGlobal(at), button, held, Qt::NoModifier);
        QApplication::sendEvent(&w, &event);
    };
    send(QEvent::MouseButtonPress, from, Qt::LeftButton, Qt::LeftButton);
    send(QEvent::MouseMove, from + by, Qt::NoButton, Qt::LeftButton);
    send(QEvent::MouseButtonRelease, from + by, Qt::LeftButton, Qt::NoButton);
}

// Where a handle stands, and towards the larger of its two sides.
QString place_of(const QSplitterHandle& handle) {
    return QString("%1,%2").arg(handle.x()).arg(handle.y());
}
bool has_more_before(const QSplitterHandle& handle) {
    const QSplitter& all = *handle.splitter();
    const int i = all.indexOf(const_cast<QSplitterHandle*>(&handle));
    return all.sizes()[i - 1] > all.sizes()[i];
}

QRect up_arrow(QAbstractSpinBox& box) {
    QStyleOptionSpinBox option;
    option.initFrom(&box);
    option.subControls = QStyle::SC_All;
    option.buttonSymbols = box.buttonSymbols();
    option.frame = box.hasFrame();
    return box.style()->subControlRect(QStyle::CC_SpinBox, &option, QStyle::SC_SpinBoxUp, &box);
}

}  // namespace

std::string shipped(const char* name) {
    static const QTemporaryDir folder;
    const std::string file = folder.filePath(QString(name) + ".toml").toStdString();
    std::filesystem::copy_file(std::string(HEADROOM_SOURCE_DIR) + "/scenarios/" + name + ".toml", file,
                               std::filesystem::copy_options::skip_existing);
    return file;
}

std::vector<QWidget*> controls_of(QWidget& root) {
    std::vector<QWidget*> all;
    const QList<QWidget*> inside = root.findChildren<QWidget*>();
    for (QWidget* w : inside) {
        const bool takes_keys = (w->focusPolicy() & Qt::TabFocus) != 0 && w->focusProxy() == nullptr;
        const bool button = qobject_cast<QAbstractButton*>(w) != nullptr;
        if ((takes_keys || button) && !is_part(w, root)) all.push_back(w);
    }
    return all;
}

QString name_of(const QWidget& w) {
    if (!w.accessibleName().isEmpty()) return w.accessibleName();
    if (qobject_cast<const QTabBar*>(&w) && !w.parentWidget()->accessibleName().isEmpty())
        return w.parentWidget()->accessibleName();
    const auto* button = qobject_cast<const QAbstractButton*>(&w);
    if (button != nullptr && !button->text().isEmpty()) return QString(button->text()).remove('&');
    return w.objectName().isEmpty() ? w.metaObject()->className() : w.objectName();
}

void wheel(QWidget& w, int notches) {
    auto* area = qobject_cast<QAbstractScrollArea*>(&w);
    QWidget* to = area != nullptr ? area->viewport() : &w;
    const QPoint at = to->rect().center();
    QWheelEvent event(at, to->mapToGlobal(at), {}, {0, notches * 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(to, &event);
}

QString picture_of(QWidget& widget) {
    const QImage image = widget.grab().toImage().convertToFormat(QImage::Format_RGB32);
    const QByteArrayView bytes(image.constBits(), image.sizeInBytes());
    return QCryptographicHash::hash(bytes.toByteArray(), QCryptographicHash::Md5).toHex();
}

void use_by_mouse(QWidget& w) {
    if (auto* box = qobject_cast<QComboBox*>(&w)) return choose_by_mouse(*box);
    if (auto* list = qobject_cast<QAbstractItemView*>(&w)) {
        const QModelIndex index = list->model()->index(other_row(*list), 0);
        list->scrollTo(index);
        return QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(index).center());
    }
    if (auto* tabs = qobject_cast<QTabBar*>(&w))
        return QTest::mouseClick(tabs, Qt::LeftButton, {},
                                 tabs->tabRect(tabs->currentIndex() == 0 ? 1 : 0).center());
    if (auto* spin = qobject_cast<QAbstractSpinBox*>(&w))
        return QTest::mouseClick(spin, Qt::LeftButton, {}, up_arrow(*spin).center());
    if (auto* slider = qobject_cast<QSlider*>(&w)) {
        const bool low = slider->value() - slider->minimum() < (slider->maximum() - slider->minimum()) / 2;
        return QTest::mouseClick(slider, Qt::LeftButton, {},
                                 {low ? slider->width() - 4 : 4, slider->height() / 2});
    }
    if (auto* handle = qobject_cast<QSplitterHandle*>(&w)) {
        const int by = has_more_before(*handle) ? -24 : 24;
        return drag(w, {by, by});
    }
    if (auto* area = qobject_cast<QScrollArea*>(&w))
        return wheel(w, area->verticalScrollBar()->value() > 0 ? 1 : -1);
    if (auto* line = qobject_cast<QLineEdit*>(&w))
        return QTest::mouseDClick(line, Qt::LeftButton, {}, {12, line->height() / 2});
    QTest::mouseClick(&w, Qt::LeftButton, {}, point_of(w));
}

void use_by_keys(QWidget& w) {
    EXPECT_NE(w.focusPolicy() & Qt::TabFocus, 0) << "the Tab key does not reach it";
    w.setFocus(Qt::TabFocusReason);
    EXPECT_TRUE(becomes([&] { return w.hasFocus(); }, 2'000)) << "it does not take the focus";
    if (auto* box = qobject_cast<QComboBox*>(&w))
        return QTest::keyClick(box, box->currentIndex() + 1 < box->count() ? Qt::Key_Down : Qt::Key_Up);
    if (auto* list = qobject_cast<QAbstractItemView*>(&w))
        return QTest::keyClick(
            list, list->currentIndex().row() + 1 < list->model()->rowCount() ? Qt::Key_Down : Qt::Key_Up);
    if (auto* tabs = qobject_cast<QTabBar*>(&w))
        return QTest::keyClick(tabs, tabs->currentIndex() == 0 ? Qt::Key_Right : Qt::Key_Left);
    if (qobject_cast<QAbstractSpinBox*>(&w)) return QTest::keyClick(&w, Qt::Key_Up);
    if (auto* slider = qobject_cast<QSlider*>(&w))
        return QTest::keyClick(slider,
                               slider->value() < slider->maximum() ? Qt::Key_PageUp : Qt::Key_PageDown);
    if (auto* handle = qobject_cast<QSplitterHandle*>(&w)) {
        const bool across = handle->orientation() == Qt::Horizontal, back = has_more_before(*handle);
        return QTest::keyClick(
            handle, across ? (back ? Qt::Key_Left : Qt::Key_Right) : (back ? Qt::Key_Up : Qt::Key_Down));
    }
    if (auto* area = qobject_cast<QScrollArea*>(&w))
        return QTest::keyClick(area,
                               area->verticalScrollBar()->value() > 0 ? Qt::Key_PageUp : Qt::Key_PageDown);
    if (auto* line = qobject_cast<QLineEdit*>(&w)) {
        line->selectAll();
        return QTest::keyClick(line, Qt::Key_7);
    }
    QTest::keyClick(&w, Qt::Key_Space);
}

void answer_file_dialog(const QString& file) {
    auto* timer = new QTimer(qApp);
    QObject::connect(timer, &QTimer::timeout, qApp, [timer, file] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (dialog == nullptr || !dialog->isVisible()) return;
        timer->deleteLater();
        timer->stop();
        auto* name = dialog->findChild<QLineEdit*>("fileNameEdit");
        ASSERT_NE(name, nullptr);
        name->setText(file);
        QTest::keyClick(name, Qt::Key_Return);
    });
    timer->start(10);
}

void answer_dialog(Qt::Key key) {
    auto* timer = new QTimer(qApp);
    QObject::connect(timer, &QTimer::timeout, qApp, [timer, key] {
        QWidget* dialog = QApplication::activeModalWidget();
        if (dialog == nullptr || !dialog->isVisible()) return;
        timer->deleteLater();
        timer->stop();
        QTest::keyClick(dialog, key);
    });
    timer->start(10);
}

void Walk::use_all(const Uses& uses) {
    for (const auto& [name, use] : uses) cases_.insert(name);
    for (QWidget* control : controls_of(root_)) {
        if (!control->isVisible() || used_.contains(control)) continue;
        const QString name = name_of(*control);
        const std::string said = name.toStdString() + " (" + control->metaObject()->className() + ")";
        const auto at = uses.find(name);
        const auto* handle = qobject_cast<QSplitterHandle*>(control);
        if (at == uses.end() && handle == nullptr) continue;  // of another scene, or end() tells
        used_.insert(control);
        met_.insert(name);
        const Use use = handle != nullptr ? Use{[handle] { return place_of(*handle); }} : at->second;
        for (const bool by_mouse : {true, false}) {
            SCOPED_TRACE(said + (by_mouse ? ", by mouse" : ", by keyboard"));
            if (use.before) use.before();
            if (!control->window()->isActiveWindow()) {  // a dialog was closed
                control->window()->activateWindow();
                EXPECT_TRUE(QTest::qWaitForWindowActive(control->window()));
            }
            EXPECT_TRUE(control->isEnabled());
            const QString before = use.state();
            const auto& by = by_mouse ? use.mouse : use.keys;
            if (by) {
                by(*control);
            } else if (by_mouse) {
                use_by_mouse(*control);
            } else {
                use_by_keys(*control);
            }
            EXPECT_TRUE(becomes([&] { return use.state() != before; }, kSoon_ms))
                << "nothing changed: " << before.toStdString();
        }
    }
}

void Walk::end() {
    for (QWidget* control : controls_of(root_))
        EXPECT_TRUE(used_.contains(control))
            << "never used: " << name_of(*control).toStdString() << " (" << control->metaObject()->className()
            << ", object '" << control->objectName().toStdString() << "')";
    for (const QString& name : cases_)
        EXPECT_TRUE(met_.contains(name)) << "a case without a control: " << name.toStdString();
}

}  // namespace headroom::gui::test
