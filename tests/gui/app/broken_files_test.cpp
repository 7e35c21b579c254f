// Broken files of every kind, opened by every way into the window: the bar names the file and what is wrong,
// and what was open stays.
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QDropEvent>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "base/file.h"
#include "gui/app/main_window.h"
#include "gui/app/message_bar.h"
#include "gui/app/sidecar.h"
#include "gui/app/use.h"
#include "gui/becomes.h"
#include "gui/view/view.h"
#include "search/answer.h"
#include "search/evaluate.h"
#include "timeline/timeline.h"

namespace headroom::gui::test {
namespace {

const std::string kRun =
    std::string(HEADROOM_SOURCE_DIR) + "/traces/h200-2026-11-29/qwen2.5-7b-8k-exact.trace.json.gz";

struct Broken {
    std::string file;  // as it is called
    std::string says;  // beside its name: where, and what
};

class BrokenFiles : public testing::Test {
protected:
    void SetUp() override {
        const std::string scenario = *read_file(shipped("tiny-cpu"), 1 << 20);
        const std::string trace = *read_file(kRun, int64_t{1} << 30);
        const Result<Scenario> read = read_scenario(shipped("tiny-cpu"), HEADROOM_SOURCE_DIR);
        ASSERT_TRUE(read);
        const std::string plan = write_plan(answer(*read)->plan);
        const std::string binary(
            "\x7f"
            "ELF\x02\x01\x01\0\0\0\xff\xfe\x80\0\xc3\x28",
            16);
        // Scenarios.
        make("syntax.toml", "model = \"tiny-qwen2\"\nhardware = [[\n", "syntax.toml:");
        make("key.toml", scenario + "chunks = 5\n", "plan.chunks");
        make("value.toml", "context = \"4Kib\"\n" + without_line(scenario, "context "), "4Kib");
        make("model.toml", "model = \"no-such\"\n" + without_line(scenario, "model "), "no-such");
        make("empty.toml", "", "model");
        make("binary.toml", binary, "");
        // Plans.
        make("cut.json", plan.substr(0, plan.size() / 2), "");
        make("key.json", "{\"schema_version\": 1, \"what\": 1}\n", "");
        make("version.json", "{\"schema_version\": 999}\n", "schema_version");
        make("list.json", "[1, 2]\n", "");
        make("binary.json", "{" + binary, "");
        make("empty.json", "", "");
        // Timelines.
        make("cut.trace.json.gz", trace.substr(0, trace.size() / 2), "");
        make("head.trace.json.gz", trace.substr(0, 12), "");
        make("noise.trace.json.gz", std::string("\x1f\x8b\x08\0", 4) + binary, "");
        make("empty.trace.json.gz", "", "");
        make("json.trace.json", "{\"traceEvents\": [{\"ph\": 7}], \"otherData\": {}}\n", "");
        make("text.trace.json", "no JSON at all\n", "JSON");
        // No file at all, a folder, one that may not be read.
        broken_.push_back({path("missing.toml"), "missing.toml"});
        broken_.push_back({path("missing.trace.json.gz"), "missing"});
        std::filesystem::create_directory(path("folder.toml"));
        broken_.push_back({path("folder.toml"), "folder.toml"});
    }
    std::string path(const char* name) { return folder.filePath(name).toStdString(); }
    void make(const char* name, const std::string& text, const char* says) {
        ASSERT_TRUE(write_file(path(name), text));
        broken_.push_back({path(name), says});
    }
    static std::string without_line(const std::string& text, const std::string& begin) {
        const size_t at = text.find("\n" + begin);
        return at == text.npos ? text : text.substr(0, at) + text.substr(text.find('\n', at + 1));
    }
    // Opens each by `way`; the scenario that is open stays.
    void open_each(const std::function<void(MainWindow&, const std::string&)>& way) {
        MainWindow window;
        window.show();
        window.open(shipped("tiny-cpu"));
        const auto settled = [&] { return window.document().answer_final() && !window.document().busy(); };
        ASSERT_TRUE(becomes(settled));
        const auto before = window.document().answer();
        for (const Broken& b : broken_) {
            SCOPED_TRACE(b.file);
            window.messages().hide();
            way(window, b.file);
            ASSERT_TRUE(becomes([&] { return window.messages().isVisible(); }, 10'000));
            const std::string said = window.messages().text().toStdString();
            EXPECT_NE(said.find(std::filesystem::path(b.file).filename().string()), said.npos) << said;
            EXPECT_NE(said.find(b.says), said.npos) << said;
            EXPECT_NE(said.find("\nAllowed: "), said.npos) << "it says no way out: " << said;
            EXPECT_TRUE(settled());
            EXPECT_EQ(window.document().path(), shipped("tiny-cpu"));
            EXPECT_EQ(window.document().answer(), before);
            EXPECT_NE(window.current_view(), nullptr);
            // All views still show what was open.
            for (View* view : window.views()) {
                window.show_view(view->objectName());
                view->grab();
            }
            window.show_view("verdict");
        }
        // And one that is whole takes its place, and the message goes.
        way(window, kRun);
        ASSERT_TRUE(becomes([&] { return window.document().kind() == Document::Kind::timeline; }));
        EXPECT_FALSE(window.messages().isVisible()) << window.messages().text().toStdString();
    }

    QTemporaryDir folder;
    std::vector<Broken> broken_;
};

TEST_F(BrokenFiles, ThroughTheMenu) {
    open_each([](MainWindow& window, const std::string& file) {
        QAction* open = window.menuBar()->actions().front()->menu()->actions().front();
        ASSERT_EQ(open->text(), "&Open…");
        if (std::filesystem::is_regular_file(file)) {
            answer_file_dialog(QString::fromStdString(file));
            open->trigger();
        } else {  // the dialog itself offers none of these
            window.open(file);
        }
    });
}

TEST_F(BrokenFiles, Dropped) {
    open_each([](MainWindow& window, const std::string& file) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(QString::fromStdString(file))});
        QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &enter);
        EXPECT_TRUE(enter.isAccepted());
        QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &drop);
        EXPECT_TRUE(drop.isAccepted());
    });
}

// The program itself, told to show each: it says the same and ends by itself only where it has no window.
TEST_F(BrokenFiles, OnTheCommandLine) {
    for (const Broken& b : broken_) {
        SCOPED_TRACE(b.file);
        QProcess process;
        process.start(HEADROOM_GUI, {"--export", "verdict", "-o", folder.filePath("a.png"),
                                     QString::fromStdString(b.file)});
        ASSERT_TRUE(process.waitForFinished(60'000));
        EXPECT_EQ(process.exitStatus(), QProcess::NormalExit);
        EXPECT_EQ(process.exitCode(), 2);
        const std::string said = process.readAllStandardError().toStdString();
        EXPECT_NE(said.find(std::filesystem::path(b.file).filename().string()), said.npos) << said;
        EXPECT_NE(said.find(b.says), said.npos) << said;
        EXPECT_FALSE(QFile::exists(folder.filePath("a.png")));
    }
    QProcess window;
    window.start(HEADROOM_GUI, {QString::fromStdString(broken_.front().file)});
    ASSERT_TRUE(window.waitForStarted());
    EXPECT_FALSE(window.waitForFinished(1'500)) << "it shows the message in its window and goes on";
    window.terminate();
    window.waitForFinished();
}

TEST_F(BrokenFiles, ABrokenSidecarIsSaidAndTheFileOpens) {
    const std::pair<std::string, const char*> broken[] = {
        {"", ""},
        {"{\"schema_version\": 1, \"view\": ", ""},
        {"[]", ""},
        {"{\"schema_version\": 7}", "schema_version"},
        {"{\"schema_version\": 1, \"knobs\": [1]}", "knobs"},
        {"{\"schema_version\": 1, \"knobs\": {\"plan.chunk\": \"many\"}}", "many"},
        {std::string("\x7f"
                     "ELF\0\xff",
                     6),
         ""}};
    for (const auto& [text, says] : broken) {
        SCOPED_TRACE(text);
        const std::string file = path("asked.toml");
        ASSERT_TRUE(write_file(file, *read_file(shipped("tiny-cpu"), 1 << 20)));
        ASSERT_TRUE(write_file(sidecar_path(file), text));
        MainWindow window;
        window.show();
        window.open(file);
        ASSERT_TRUE(becomes([&] { return window.messages().isVisible(); }, 10'000));
        const std::string said = window.messages().text().toStdString();
        EXPECT_NE(said.find("asked.toml"), said.npos) << said;
        EXPECT_NE(said.find(says), said.npos) << said;
        EXPECT_NE(said.find("\nAllowed: "), said.npos) << said;
        EXPECT_EQ(window.document().kind(), Document::Kind::scenario);
        EXPECT_EQ(window.document().path(), file);
    }
    // A folder in its place.
    std::filesystem::remove(sidecar_path(path("asked.toml")));
    std::filesystem::create_directory(sidecar_path(path("asked.toml")));
    MainWindow window;
    window.show();
    window.open(path("asked.toml"));
    ASSERT_TRUE(becomes([&] { return window.messages().isVisible(); }, 10'000));
    EXPECT_TRUE(becomes([&] { return window.document().answer_final(); }));
}

}  // namespace
}  // namespace headroom::gui::test
