#include "gui/app/main_window.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDialog>
#include <QDropEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMimeData>
#include <QScrollBar>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <set>

#include "base/file.h"
#include "gui/app/message_bar.h"
#include "gui/app/settings.h"
#include "gui/app/sidecar.h"
#include "gui/view/view.h"
#include "search/answer.h"
#include "timeline/excerpt.h"

namespace headroom::gui::test {
namespace {

constexpr int kPatience_ms = 60'000;

std::string shipped(const char* name) {
    return std::string(HEADROOM_SOURCE_DIR) + "/scenarios/" + name + ".toml";
}

// A copy of a shipped scenario in a folder of its own: a sidecar may be written beside it.
struct Copied {
    QTemporaryDir folder;
    std::filesystem::path file;
    explicit Copied(const char* name) : file(folder.filePath("asked.toml").toStdString()) {
        EXPECT_TRUE(write_file(file, *read_file(shipped(name), 1 << 20)));
    }
};

bool answered(MainWindow& window) {
    return QTest::qWaitFor([&] { return window.document().answer_final() && !window.document().busy(); },
                           kPatience_ms);
}

TEST(MainWindow, ABrokenFileIsABarWithFileAndFix) {
    MainWindow window;
    window.show();
    window.open("/nowhere/at/all.toml");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window.messages().isVisible(); }, 30'000));
    EXPECT_TRUE(window.messages().text().contains("all.toml")) << window.messages().text().toStdString();
}

TEST(MainWindow, TheFirstPageOpensAShippedScenario) {
    MainWindow window;
    window.show();
    EXPECT_EQ(window.current_view(), nullptr);
    auto* list = window.findChild<QListWidget*>("shipped_scenarios");
    ASSERT_NE(list, nullptr);
    EXPECT_GE(list->count(), 29);
    for (int i = 0; i < list->count(); ++i) {
        if (list->item(i)->toolTip().endsWith("qwen2.5-7b-64k-exact-h200.toml")) list->setCurrentRow(i);
    }
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Return);
    ASSERT_TRUE(answered(window));
    ASSERT_NE(window.current_view(), nullptr);
    EXPECT_EQ(window.current_view()->objectName(), "verdict");
    EXPECT_TRUE(window.windowTitle().contains("qwen2.5-7b-64k-exact-h200.toml"));
    EXPECT_TRUE(recent_files().first().endsWith("qwen2.5-7b-64k-exact-h200.toml"));
}

// Of a long run some chunks may be all that was kept: the window says so.
TEST(MainWindow, AnExcerptSaysWhatItIs) {
    const Result<Plan> plan = [] {
        const Result<Scenario> s = read_scenario(shipped("tiny-cpu"), HEADROOM_SOURCE_DIR);
        return answer(*s).transform([](const Answer& a) { return a.plan; });
    }();
    ASSERT_TRUE(plan) << plan.error().text();
    const Result<Timeline> whole = predict(*plan);
    ASSERT_TRUE(whole) << whole.error().text();
    const Result<Timeline> kept = excerpt(*whole, {{0, 2}, 50}, "");
    ASSERT_TRUE(kept) << kept.error().text();
    QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("kept.trace.json.gz").toStdString();
    ASSERT_TRUE(write_timeline(*kept, file));
    MainWindow window;
    window.show();
    window.open(file);
    ASSERT_TRUE(answered(window));
    const auto said = [&] {
        QString all;
        for (const QLabel* l : window.statusBar()->findChildren<QLabel*>()) all += l->text();
        return all;
    };
    EXPECT_TRUE(said().contains("those of chunks 0, 2")) << said().toStdString();
    EXPECT_TRUE(said().contains("of the whole step")) << said().toStdString();
    ASSERT_TRUE(write_timeline(*whole, file));
    window.open(file);
    ASSERT_TRUE(answered(window));
    EXPECT_EQ(said(), "");
}

TEST(MainWindow, AFileCanBeDropped) {
    MainWindow window;
    window.show();
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(QString::fromStdString(shipped("qwen2.5-7b-64k-exact-h200")))});
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &drop);
    ASSERT_TRUE(answered(window));
    EXPECT_EQ(window.document().kind(), Document::Kind::scenario);
}

TEST(MainWindow, HowItWasLookedAtIsTakenUpAgain) {
    const Copied scenario("qwen2.5-7b-64k-exact-h200");
    TimeRange looked_at;
    {
        MainWindow window;
        window.show();
        window.open(scenario.file);
        ASSERT_TRUE(answered(window));
        window.document().knobs().turn("context", "32Ki");
        ASSERT_TRUE(answered(window));
        window.focus().zoom(0.25, 1'000'000'000);
        window.focus().select(17);
        looked_at = window.focus().range();
        window.close();
    }
    EXPECT_TRUE(std::filesystem::exists(sidecar_path(scenario.file)));
    MainWindow window;
    window.show();
    window.open(scenario.file);
    ASSERT_TRUE(answered(window));
    EXPECT_EQ(window.document().answer()->plan.context.count(), 32768);
    EXPECT_EQ(window.focus().range(), looked_at);
    EXPECT_EQ(window.focus().selected(), 17U);
    window.document().knobs().history().undo();
    ASSERT_TRUE(answered(window));
    EXPECT_EQ(window.document().answer()->plan.context.count(), 65536);
}

TEST(MainWindow, AFileOnlyLookedAtLeavesNothingBesideIt) {
    const Copied scenario("qwen2.5-7b-64k-exact-h200");
    MainWindow window;
    window.show();
    window.open(scenario.file);
    ASSERT_TRUE(answered(window));
    window.close();
    EXPECT_FALSE(std::filesystem::exists(sidecar_path(scenario.file)));
}

TEST(MainWindow, ABrokenSidecarIsSaidAndTheFileOpensAllTheSame) {
    const Copied scenario("qwen2.5-7b-64k-exact-h200");
    ASSERT_TRUE(write_file(sidecar_path(scenario.file), "{\"schema_version\": 1, \"range_ns\": [5]}"));
    MainWindow window;
    window.show();
    window.open(scenario.file);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window.messages().isVisible(); }, 30'000));
    EXPECT_TRUE(window.messages().text().contains("range_ns")) << window.messages().text().toStdString();
    ASSERT_TRUE(answered(window));
}

TEST(MainWindow, APlanThatHasNoFileIsNoRecentFileAndLeavesNoSidecar) {
    MainWindow window;
    window.show();
    window.open(shipped("qwen2.5-7b-64k-exact-h200"));
    ASSERT_TRUE(answered(window));
    const QStringList recent = recent_files();
    const Plan plan = window.document().answer()->plan;
    window.document().open_plan(plan, "chunked at 64Ki tokens");
    EXPECT_TRUE(window.windowTitle().contains("chunked at 64Ki tokens"))
        << window.windowTitle().toStdString();
    EXPECT_FALSE(window.messages().isVisible()) << window.messages().text().toStdString();
    EXPECT_EQ(recent_files(), recent);
    window.show_view("sweep");
    window.close();
    EXPECT_FALSE(std::filesystem::exists(sidecar_path("")));
}

TEST(MainWindow, TheQuestionMarkShowsTheKeys) {
    MainWindow window;
    window.show();
    window.show_keys();
    const auto* dialog = window.findChild<QDialog*>();
    ASSERT_NE(dialog, nullptr);
    EXPECT_TRUE(dialog->isVisible());
}

TEST(MainWindow, EveryMenuEntryHasANameOfItsOwnAndNoKeyTwice) {
    MainWindow window;
    std::set<QString> keys;
    for (const QAction* top : window.menuBar()->actions()) {
        std::set<QString> names;
        for (const QAction* action : top->menu()->actions()) {
            if (action->isSeparator()) continue;
            EXPECT_TRUE(names.insert(action->text()).second) << action->text().toStdString();
            for (const QKeySequence& k : action->shortcuts())
                EXPECT_TRUE(keys.insert(k.toString()).second) << k.toString().toStdString();
        }
    }
}

// Whoever hears the screen instead of seeing it, and whoever has no mouse.
TEST(MainWindow, EveryControlHasANameAndTakesTheKeyboard) {
    MainWindow window;
    window.show();
    window.open(shipped("qwen2.5-7b-64k-exact-h200"));
    ASSERT_TRUE(answered(window));
    for (View* view : window.views()) {
        window.show_view(view->objectName());
        QTest::qWait(50);
        for (QWidget* w : view->findChildren<QWidget*>()) {
            if (!w->isVisible() || w->objectName().startsWith("qt_")) continue;
            const auto* button = qobject_cast<QAbstractButton*>(w);
            const bool control = button != nullptr || qobject_cast<QComboBox*>(w) ||
                                 qobject_cast<QAbstractSlider*>(w) || qobject_cast<QAbstractItemView*>(w) ||
                                 qobject_cast<QLineEdit*>(w) || qobject_cast<QAbstractSpinBox*>(w);
            // Parts of another control: the field of a combo box, the bars of a scroll area, a table's
            // corner.
            const bool part = qobject_cast<QScrollBar*>(w) || qobject_cast<QHeaderView*>(w) ||
                              qobject_cast<QComboBox*>(w->parentWidget()) ||
                              qobject_cast<QAbstractSpinBox*>(w->parentWidget()) ||
                              qobject_cast<QAbstractItemView*>(w->parentWidget());
            if (!control || part) continue;
            const bool named =
                !w->accessibleName().isEmpty() || (button != nullptr && !button->text().isEmpty());
            EXPECT_TRUE(named) << view->objectName().toStdString() << ": " << w->metaObject()->className()
                               << " '" << w->objectName().toStdString() << "'";
            if (w->isEnabled() && qobject_cast<QToolButton*>(w) == nullptr) {
                EXPECT_TRUE(w->focusPolicy() & Qt::TabFocus)
                    << view->objectName().toStdString() << ": " << w->accessibleName().toStdString();
            }
        }
    }
}

}  // namespace
}  // namespace headroom::gui::test
