#include "gui/app/export.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QProcess>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>
#include <algorithm>
#include <set>

#include "base/file.h"
#include "gui/app/main_window.h"
#include "gui/view/views.h"
#include "timeline/timeline.h"

namespace headroom::gui::test {
namespace {

const QString kScenario = QString(HEADROOM_SOURCE_DIR) + "/scenarios/qwen2.5-7b-64k-exact-h200.toml";

struct Ran {
    int code;
    QString said;
};
// The program itself, without a window.
Ran run(const QStringList& words) {
    QProcess process;
    process.start(HEADROOM_GUI, words);
    EXPECT_TRUE(process.waitForFinished(120'000));
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            QString::fromUtf8(process.readAllStandardError())};
}

TEST(Export, EveryPictureAndTableOfTheVerdict) {
    const QTemporaryDir folder;
    const QString png = folder.filePath("a.png"), svg = folder.filePath("a.svg"),
                  csv = folder.filePath("a.csv");
    for (const QString& file : {png, svg, csv}) {
        const Ran ran = run({"--export", "verdict", "--size", "1000x700", "-o", file, kScenario});
        ASSERT_EQ(ran.code, 0) << ran.said.toStdString();
    }
    const QImage image(png);
    EXPECT_EQ(image.size(), QSize(1000, 700));
    std::set<QRgb> colours;
    for (int x = 0; x < image.width(); x += 3) {
        for (int y = 0; y < image.height(); y += 3) colours.insert(image.pixel(x, y));
    }
    EXPECT_GT(colours.size(), 20U);
    QSvgRenderer drawing(svg);
    EXPECT_TRUE(drawing.isValid());
    EXPECT_EQ(drawing.viewBox(), QRect(0, 0, 1000, 700));
    EXPECT_TRUE(read_file(csv.toStdString(), 1 << 20)->starts_with("tier,category,bytes\n"));
}

// A measured run has something for every view of a step, Compare included.
TEST(Export, EveryViewOfAStepInEveryFormatReadsBack) {
    const QTemporaryDir folder;
    MainWindow window;
    window.show();
    window.open(std::string(HEADROOM_SOURCE_DIR) +
                "/traces/h200-2026-11-29/qwen2.5-7b-8k-exact.trace.json.gz");
    const auto settled = [&](const View& view) {
        return QTest::qWaitFor(
            [&] { return window.document().predicted() && !window.document().busy() && !view.busy(); },
            60'000);
    };
    for (const char* id : {"verdict", "memory", "streams", "pages", "compare"}) {
        View* view = window.view(id);
        ASSERT_NE(view, nullptr) << id;
        window.show_view(id);
        ASSERT_TRUE(settled(*view)) << id;
        QTest::qWait(50);
        ASSERT_TRUE(settled(*view)) << id;
        const auto file = [&](const char* ending) {
            return folder.filePath(QString(id) + ending).toStdString();
        };
        for (const auto& [ending, format] : {std::pair{".png", ExportFormat::png},
                                             {".svg", ExportFormat::svg},
                                             {".csv", ExportFormat::csv}}) {
            const Result<void> written = export_view(*view, format, file(ending));
            ASSERT_TRUE(written) << id << ending << ": " << written.error().text();
        }
        EXPECT_EQ(QImage(QString::fromStdString(file(".png"))).size(), view->size()) << id;
        // As XML: hatches are SVG patterns, which browsers know and Qt's own reader does not.
        QXmlStreamReader drawing(QByteArray::fromStdString(*read_file(file(".svg"), 1 << 28)));
        ASSERT_TRUE(drawing.readNextStartElement()) << id;
        EXPECT_EQ(drawing.name(), u"svg") << id;
        int64_t elements = 0;
        while (!drawing.atEnd()) elements += drawing.readNext() == QXmlStreamReader::StartElement ? 1 : 0;
        EXPECT_FALSE(drawing.hasError()) << id << ": " << drawing.errorString().toStdString();
        EXPECT_GT(elements, 50) << id;
        const std::string table = *read_file(file(".csv"), 1 << 28);
        const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
        const size_t first = table.find('\n');
        ASSERT_NE(first, table.npos) << id;
        const std::string header = table.substr(0, first),
                          row = table.substr(first + 1, table.find('\n', first + 1) - first - 1);
        EXPECT_GE(commas(header), 1) << id;
        EXPECT_EQ(commas(header), commas(row)) << id << ": " << header << " / " << row;
    }
}

TEST(Export, TwiceThePixels) {
    const QTemporaryDir folder;
    const QString file = folder.filePath("a.png");
    ASSERT_EQ(
        run({"--export", "verdict", "--size", "800x600", "--scale", "2", "--dark", "-o", file, kScenario})
            .code,
        0);
    EXPECT_EQ(QImage(file).size(), QSize(1600, 1200));
}

TEST(Export, TheTimelineReadsBack) {
    const QTemporaryDir folder;
    const QString file = folder.filePath("step.trace.json.gz");
    ASSERT_EQ(run({"--export", "timeline", "-o", file, kScenario}).code, 0);
    const Result<Timeline> back = read_timeline(file.toStdString());
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_GT(back->ops.size(), 500U);
}

// The engine of build/engine, on the CPU: what was measured is kept, and shown beside what was predicted.
TEST(Export, ThePlanIsRunFirstWhereThatIsAsked) {
    if (!QFile::exists(HEADROOM_SOURCE_DIR "/build/engine/engine/headroom-engine"))
        GTEST_SKIP() << "no engine (preset engine builds it)";
    const QTemporaryDir folder;
    const QString timeline = folder.filePath("t.trace.json.gz"), csv = folder.filePath("a.csv"),
                  tiny = QString(HEADROOM_SOURCE_DIR) + "/scenarios/tiny-cpu.toml";
    const Ran ran = run({"--export", "run", "--run", timeline, "-o", csv, tiny});
    ASSERT_EQ(ran.code, 0) << ran.said.toStdString();
    const Result<Timeline> measured = read_timeline(timeline.toStdString());
    ASSERT_TRUE(measured) << measured.error().text();
    EXPECT_EQ(measured->source, "measured");
    const std::string steps = read_file(csv.toStdString(), 1 << 20).value();
    EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 4) << steps;  // a heading and three steps
    const QString large = QString(HEADROOM_SOURCE_DIR) + "/scenarios/qwen2.5-72b-128k-h200.toml",
                  picture = folder.filePath("large.png");
    const Ran refused =
        run({"--export", "run", "--run", folder.filePath("large.trace.json.gz"), "-o", picture, large});
    EXPECT_EQ(refused.code, 3);
    EXPECT_TRUE(refused.said.contains("does not fit this machine")) << refused.said.toStdString();
    EXPECT_FALSE(QFile::exists(picture));
}

TEST(Export, WhatIsWrongIsSaidWithItsExitCode) {
    const QTemporaryDir folder;
    const QString file = folder.filePath("a.png");
    const std::pair<QStringList, const char*> wrong[] = {
        {{"--export", "verdict", "-o", file}, "no file"},
        {{"--export", "verdict", kScenario}, "-o"},
        {{"--export", "vredict", "-o", file, kScenario}, "vredict"},
        {{"--export", "verdict", "-o", folder.filePath("a.gif"), kScenario}, "gif"},
        {{"--export", "verdict", "--size", "7", "-o", file, kScenario}, "--size"},
        {{"--export", "verdict", "--scale", "x", "-o", file, kScenario}, "--scale"},
        {{"--export", "verdict", "-o", file, "/nowhere.toml"}, "/nowhere.toml"},
        {{"--export", "verdict", "-o", "/proc/nowhere/a.png", kScenario}, "folder is not there"},
        {{"--export", "timeline", "-o", kScenario, kScenario}, "another file"},
        {{"--export", "timeline", "-o", file, kScenario}, ".trace.json.gz"},
        {{"--export", "run", "--run", "", "-o", file, kScenario}, "--run"},
        {{"--export", "run", "--run", kScenario, "-o", file, kScenario}, "another file"},
        {{"--export", "run", "--run", folder.filePath("no/t.trace.json.gz"), "-o", file, kScenario},
         "folder is not there"},
        {{"--run", folder.filePath("t.trace.json.gz"), kScenario}, "--export"},
        {{"--export", "compare", "--run-selection", "-o", file, kScenario}, "not recorded beside it"},
        {{"--export", "memory", "--run-selection", "-o", file, kScenario}, "--run-selection"},
        {{"--run-selection", kScenario}, "--export"},
        {{"--unknown"}, "unknown"},
        {{kScenario, kScenario}, "more than one"}};
    for (const auto& [words, key] : wrong) {
        const Ran ran = run(words);
        EXPECT_EQ(ran.code, 2) << words.join(' ').toStdString();
        EXPECT_TRUE(ran.said.contains(key)) << ran.said.toStdString();
    }
    EXPECT_FALSE(QFile::exists(file));
    const Ran unwritable = run({"--export", "verdict", "-o", "/proc/a.png", kScenario});
    EXPECT_EQ(unwritable.code, 5) << unwritable.said.toStdString();
}

}  // namespace
}  // namespace headroom::gui::test
