#include "gui/view/run_view.h"

#include <gtest/gtest.h>

#include <cmath>

#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QLineSeries>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>

#include "base/file.h"
#include "gui/becomes.h"
#include "gui/view/compare_view.h"
#include "gui/view/path_field.h"
#include "gui/view/run_charts.h"
#include "gui/view/run_form.h"

namespace headroom::gui::test {
namespace {

class RunViewTest : public testing::Test {
protected:
    void SetUp() override {
        view.resize(1200, 800);
        view.show();
    }
    void open_tiny() {
        document.open(std::filesystem::path(HEADROOM_SOURCE_DIR) / "scenarios" / "tiny-cpu.toml");
        ASSERT_TRUE(becomes([&] { return document.answer_final(); }));
    }
    template <class Control>
    Control& control(const char* name) {
        auto* found = view.findChild<Control*>(name);
        EXPECT_NE(found, nullptr) << name;
        return *found;
    }
    QString text(const char* name) { return control<QLabel>(name).text(); }
    void set_output(const QString& name) {
        auto& line = control<PathField>("run_output").line();
        line.selectAll();
        QTest::keyClicks(&line, folder.filePath(name));
        QTest::qWait(300);  // obstacles are looked for after the last key
    }
    // A program of the system behind a name that takes any words.
    QString program(const char* script) {
        const QString path = folder.filePath("program");
        EXPECT_TRUE(write_file(path.toStdString(), std::string("#!/bin/sh\n") + script + "\n"));
        QFile(path).setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return path;
    }
    QPushButton& run() { return control<QPushButton>("run_start"); }
    QPushButton& cancel() { return control<QPushButton>("run_cancel"); }
    testing::AssertionResult ends() {
        return becomes([&] { return !view.busy(); });
    }

    Document document;
    Focus focus;
    RunView view{document, focus};
    QTemporaryDir folder;
};

TEST_F(RunViewTest, WithNothingOpenItSaysWhatItNeeds) {
    view.set_engine("/bin/sh");
    EXPECT_TRUE(text("run_empty").contains("Open a scenario, a plan or a timeline first."));
    EXPECT_TRUE(text("run_obstacles").contains("Open a scenario"));
    EXPECT_FALSE(run().isEnabled());
    EXPECT_FALSE(cancel().isEnabled());
    EXPECT_FALSE(view.has_content());
    EXPECT_EQ(view.csv(), "");
}

TEST_F(RunViewTest, WithoutAnEngineItSaysHowToGetOne) {
    open_tiny();
    view.set_engine("/none/headroom-engine");
    EXPECT_TRUE(text("run_empty").contains("Nothing has run yet."));
    EXPECT_TRUE(text("run_obstacles").contains("scripts/deps engine"));
    EXPECT_FALSE(run().isEnabled());
}

TEST_F(RunViewTest, TheTimelineIsNamedAfterWhatIsOpenUnlessItWasNamed) {
    open_tiny();
    EXPECT_TRUE(view.form().settings().output.endsWith("/tiny-cpu.measured.trace.json.gz"));
    EXPECT_FALSE(view.form().settings().output.startsWith(HEADROOM_SOURCE_DIR)) << "shipped files lie there";
    set_output("mine.trace.json.gz");
    document.open(std::filesystem::path(HEADROOM_SOURCE_DIR) / "scenarios" /
                  "qwen2.5-7b-64k-exact-h200.toml");
    ASSERT_TRUE(becomes([&] { return document.title().startsWith("qwen") && document.answer_final(); }));
    EXPECT_EQ(view.form().settings().output, folder.filePath("mine.trace.json.gz"));
}

TEST_F(RunViewTest, EveryControlIsASetting) {
    view.set_engine("/bin/sh");
    open_tiny();
    auto& steps = control<QSpinBox>("run_steps");
    steps.selectAll();
    QTest::keyClicks(&steps, "12");
    auto& seed = control<QSpinBox>("run_seed");
    seed.setFocus();
    QTest::keyClick(&seed, Qt::Key_Up);
    auto& device = control<QComboBox>("run_device");
    QTest::keyClick(&device, Qt::Key_End);
    auto& more = control<QToolButton>("run_more");
    EXPECT_FALSE(control<QDoubleSpinBox>("run_learning_rate").isVisible());
    QTest::mouseClick(&more, Qt::LeftButton);
    ASSERT_TRUE(control<QDoubleSpinBox>("run_learning_rate").isVisible());
    control<QDoubleSpinBox>("run_learning_rate").setValue(0.002);
    for (const char* name : {"run_weights", "run_tokens", "run_save_weights", "run_checkpoint", "run_resume"})
        QTest::keyClicks(&control<PathField>(name).line(), name);
    QTest::keyClick(&more, Qt::Key_Space);
    EXPECT_FALSE(control<QDoubleSpinBox>("run_learning_rate").isVisible());
    const RunSettings s = view.form().settings();
    EXPECT_EQ(s.steps, 12);
    EXPECT_EQ(s.seed, 1);
    EXPECT_EQ(s.device, "cpu");
    EXPECT_EQ(s.learning_rate, 0.002);
    EXPECT_EQ(s.weights, "run_weights");
    EXPECT_EQ(s.tokens, "run_tokens");
    EXPECT_EQ(s.save_weights, "run_save_weights");
    EXPECT_EQ(s.checkpoint, "run_checkpoint");
    EXPECT_EQ(s.resume, "run_resume");
    for (const QAbstractButton* b : view.findChildren<QAbstractButton*>()) {
        // The clear buttons and corners of Qt's own controls aside.
        const bool ours = b->parent() == view.form().parent() || b->objectName().startsWith("run_") ||
                          qobject_cast<PathField*>(b->parent()) != nullptr;
        EXPECT_FALSE(ours && b->accessibleName().isEmpty()) << b->objectName().toStdString();
    }
}

TEST_F(RunViewTest, AnErrorOfTheProgramIsShownWithItsMeaning) {
    open_tiny();
    view.set_engine(program("echo 'headroom-engine: key x: 1; allowed: 2' >&2; exit 2"));
    set_output("t.trace.json.gz");
    ASSERT_TRUE(run().isEnabled()) << text("run_obstacles").toStdString();
    QTest::mouseClick(&run(), Qt::LeftButton);
    ASSERT_TRUE(ends());
    EXPECT_EQ(text("run_message"), "headroom-engine: bad input: key x: 1\nAllowed: 2");
    EXPECT_TRUE(run().isEnabled()) << "it can be tried again";
}

TEST_F(RunViewTest, ARunIsStartedAndCancelledByKeys) {
    open_tiny();
    view.set_engine(
        program("echo '{\"event\":\"start\",\"device\":\"CPU\",\"ops\":3,\"steps\":4}'\n"
                "echo '{\"event\":\"step\",\"step\":0,\"loss\":2.5,\"gradient_norm\":1,\"seconds\":1}'\n"
                "exec sleep 60"));
    set_output("t.trace.json.gz");
    QTest::keyClick(&run(), Qt::Key_Space);
    EXPECT_TRUE(view.busy());
    EXPECT_FALSE(run().isEnabled());
    EXPECT_FALSE(control<QSpinBox>("run_steps").isEnabled());
    ASSERT_TRUE(becomes([&] { return control<QTableView>("run_table").model()->rowCount() == 1; }));
    EXPECT_EQ(text("run_headline"), "tiny-cpu: step 2 of 4");
    EXPECT_EQ(text("run_facts"), "CPU: 3 operations a step, 0 B in the device's arena");
    EXPECT_TRUE(text("run_times").startsWith("25.0 %, "));
    const RunCharts& charts = *view.findChild<RunCharts*>();
    ASSERT_EQ(charts.loss().count(), 1);
    EXPECT_EQ(charts.loss().at(0), QPointF(1, 2.5));
    EXPECT_EQ(charts.gradient_norm().at(0), QPointF(1, 1));
    EXPECT_FALSE(charts.device_used().isVisible());
    EXPECT_EQ(control<QTableView>("run_table").model()->rowCount(), 1);
    QTest::keyClick(&cancel(), Qt::Key_Space);
    ASSERT_TRUE(ends());
    EXPECT_EQ(text("run_message"), "Cancelled. No timeline was written.");
    EXPECT_EQ(document.measured(), nullptr);
    EXPECT_TRUE(view.csv().startsWith("step,loss,"));
}

TEST_F(RunViewTest, ATimelineThatIsNotThereIsAnErrorOfTheDocument) {
    open_tiny();
    QSignalSpy failures(&document, &Document::failed), finished(&view, &RunView::finished_with);
    view.set_engine(program("exit 0"));
    set_output("t.trace.json.gz");
    QTest::mouseClick(&run(), Qt::LeftButton);
    ASSERT_TRUE(becomes([&] { return failures.count() == 1; }));
    EXPECT_EQ(finished.count(), 1);
    EXPECT_EQ(document.measured(), nullptr);
}

TEST_F(RunViewTest, ItIsDrawnLightAndDark) {
    open_tiny();
    for (const Palette& palette : {Palette::light(), Palette::dark_one()}) {
        view.set_palette(palette);
        QImage image(view.picture_size(), QImage::Format_RGB32);
        image.fill(Qt::magenta);
        QPainter painter(&image);
        view.draw(painter);
        painter.end();
        EXPECT_NE(image.pixelColor(600, 400), QColor(Qt::magenta));
    }
}

// The engine of $HEADROOM_ENGINE, which must be there, or else of build/engine.
class RunViewWithEngine : public RunViewTest {
protected:
    void SetUp() override {
        QString engine = qEnvironmentVariable("HEADROOM_ENGINE");
        const bool named = !engine.isEmpty();
        if (!named) engine = HEADROOM_SOURCE_DIR "/build/engine/engine/headroom-engine";
        if (!QFile::exists(engine)) {
            ASSERT_FALSE(named) << "no engine: " << engine.toStdString();
            GTEST_SKIP() << "no engine: " << engine.toStdString()
                         << " is not there (preset engine builds it)";
        }
        qputenv("OMP_NUM_THREADS", "1");  // the model is small
        RunViewTest::SetUp();
        open_tiny();
        document.knobs().turn("context", "512");
        ASSERT_TRUE(
            becomes([&] { return document.answer_final() && document.plan()->context.count() == 512; }));
        view.set_engine(engine);
        set_output("t.trace.json.gz");
    }
};

// One Ctrl-C, long before a second one would end it by force: it leaves nothing behind.
TEST_F(RunViewWithEngine, TheEngineEndsWhereItIsCancelled) {
    control<QSpinBox>("run_steps").setValue(100'000);
    QTest::mouseClick(&run(), Qt::LeftButton);
    ASSERT_TRUE(becomes([&] { return !view.busy() || view.run().so_far().steps.size() >= 2; }, 240'000));
    ASSERT_TRUE(view.busy()) << text("run_message").toStdString();
    QElapsedTimer since;
    since.start();
    QTest::keyClick(&cancel(), Qt::Key_Space);
    EXPECT_EQ(text("run_headline"), "tiny-cpu: cancelling…");
    ASSERT_TRUE(ends());
    EXPECT_LT(since.elapsed(), EngineRun::kGrace_ms);
    EXPECT_EQ(text("run_message"), "Cancelled. No timeline was written.");
    EXPECT_EQ(QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
              QStringList());
    EXPECT_EQ(document.measured(), nullptr);
    EXPECT_LT(view.run().so_far().steps.size(), 100'000u);
    EXPECT_TRUE(run().isEnabled()) << "it can be run again";
}

// The whole way from a plan to a measured timeline beside its prediction.
TEST_F(RunViewWithEngine, TheEngineRunsTheTinyPlanAndItsTimelineIsLaidBeside) {
    QSignalSpy finished(&view, &RunView::finished_with), wanted(&view, &View::view_wanted);
    control<QSpinBox>("run_steps").setValue(2);
    QTest::mouseClick(&run(), Qt::LeftButton);
    ASSERT_TRUE(becomes(
        [&] { return !view.busy() && (document.measured() || !text("run_message").startsWith("Done")); },
        240'000));
    ASSERT_EQ(finished.count(), 1) << text("run_message").toStdString();
    EXPECT_EQ(finished[0][0].toString(), folder.filePath("t.trace.json.gz"));
    ASSERT_NE(document.measured(), nullptr);
    EXPECT_EQ(document.measured()->timeline.plan_hash, document.predicted()->timeline.plan_hash);
    EXPECT_EQ(document.measured()->timeline.ops.size(), document.predicted()->timeline.ops.size());
    ASSERT_EQ(wanted.count(), 1);
    EXPECT_EQ(wanted[0][0].toString(), "compare");
    CompareView compare(document, focus);
    ASSERT_TRUE(becomes([&] { return compare.comparison() != nullptr; }));
    EXPECT_EQ(compare.comparison()->figures.unmatched_ops, 0);
    EXPECT_EQ(view.run().so_far().steps.size(), 2u);
    EXPECT_NEAR(*view.run().so_far().steps[0].loss, std::log(4096.0), 0.5);
    EXPECT_EQ(text("run_headline"), "tiny-cpu: 2 of 2 steps");
    // And one that is larger than any machine: the engine's own words.
    document.open(std::filesystem::path(HEADROOM_SOURCE_DIR) / "scenarios" /
                  "qwen2.5-7b-64k-exact-h200.toml");
    ASSERT_TRUE(becomes([&] { return document.title().startsWith("qwen") && document.answer_final(); }));
    if (!text("run_obstacles").contains("the engine will refuse it")) return;
    QTest::mouseClick(&run(), Qt::LeftButton);
    ASSERT_TRUE(ends());
    EXPECT_TRUE(text("run_message").startsWith("headroom-engine: ")) << text("run_message").toStdString();
    EXPECT_EQ(finished.count(), 1);
}

}  // namespace
}  // namespace headroom::gui::test
