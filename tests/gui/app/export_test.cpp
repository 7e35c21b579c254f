#include "gui/app/export.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QProcess>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <set>

#include "base/file.h"
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
    EXPECT_GT(back->ops.size(), 1000U);
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
        {{"--unknown"}, "unknown"},
        {{kScenario, kScenario}, "more than one"}};
    for (const auto& [words, key] : wrong) {
        const Ran ran = run(words);
        EXPECT_EQ(ran.code, 2) << words.join(' ').toStdString();
        EXPECT_TRUE(ran.said.contains(key)) << ran.said.toStdString();
    }
    EXPECT_FALSE(QFile::exists(file));
    const Ran unwritable = run({"--export", "verdict", "-o", "/proc/nowhere/a.png", kScenario});
    EXPECT_EQ(unwritable.code, 5) << unwritable.said.toStdString();
}

}  // namespace
}  // namespace headroom::gui::test
