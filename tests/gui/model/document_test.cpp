#include "gui/model/document.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "base/file.h"
#include "cli/report.h"

namespace headroom::gui::test {
namespace {

constexpr int kPatience_ms = 60'000;

std::filesystem::path scenario(const char* name) {
    return std::filesystem::path(HEADROOM_SOURCE_DIR) / "scenarios" / (std::string(name) + ".toml");
}

testing::AssertionResult becomes(const std::function<bool()>& holds) {
    return QTest::qWaitFor(holds, kPatience_ms) ? testing::AssertionSuccess()
                                                : testing::AssertionFailure() << "not within a minute";
}

TEST(Document, AScenarioIsAnsweredStepByStep) {
    Document d;
    QSignalSpy verdicts(&d, &Document::verdict_changed), failures(&d, &Document::failed);
    d.open(scenario("qwen2.5-7b-64k-exact-h200"));
    ASSERT_TRUE(becomes([&] { return d.answer_final(); }));
    EXPECT_EQ(failures.count(), 0);
    EXPECT_EQ(d.kind(), Document::Kind::scenario);
    EXPECT_TRUE(d.verdict()->fits);
    EXPECT_TRUE(d.answer()->fits());
    EXPECT_FALSE(d.answer()->gains.empty());
    // Step by step it says what the command says at once.
    EXPECT_EQ(cli::report_text(*d.answer()), cli::report_text(*answer(*d.scenario())));
    ASSERT_NE(d.step(), nullptr);
    EXPECT_EQ(d.step()->timeline.source, "simulated");
    EXPECT_EQ(d.step()->duration_ns(), d.answer()->evaluation.step_ns);
    EXPECT_FALSE(d.busy());
}

TEST(Document, ATurnedKnobPlansAnew) {
    Document d;
    d.open(scenario("qwen2.5-7b-64k-exact-h200"));
    ASSERT_TRUE(becomes([&] { return d.answer_final(); }));
    const int64_t before = d.answer()->evaluation.step_ns;
    d.knobs().turn("context", "32Ki");
    ASSERT_TRUE(becomes([&] { return d.answer_final() && d.answer()->plan.context.count() == 32768; }));
    EXPECT_LT(d.answer()->evaluation.step_ns, before);
    d.knobs().history().undo();
    ASSERT_TRUE(becomes([&] { return d.answer_final() && d.answer()->plan.context.count() == 65536; }));
    EXPECT_EQ(d.answer()->evaluation.step_ns, before);
}

TEST(Document, AWrongKnobIsAnErrorAndKeepsWhatIsThere) {
    Document d;
    d.open(scenario("qwen2.5-7b-64k-exact-h200"));
    ASSERT_TRUE(becomes([&] { return d.answer_final(); }));
    std::string said;
    QObject::connect(&d, &Document::failed, [&](const Error& e) { said = e.text(); });
    d.knobs().turn("budget.host", "lots");
    ASSERT_TRUE(becomes([&] { return !said.empty(); }));
    EXPECT_NE(said.find("budget.host"), said.npos) << said;
    EXPECT_NE(d.answer(), nullptr);
}

TEST(Document, TheNewestTurnWins) {
    Document d;
    d.open(scenario("qwen2.5-7b-64k-exact-h200"));
    ASSERT_TRUE(becomes([&] { return d.answer() != nullptr; }));
    for (const char* context : {"8Ki", "16Ki", "24Ki", "32Ki"}) d.knobs().turn("context", context);
    ASSERT_TRUE(becomes([&] { return d.answer_final(); }));
    EXPECT_EQ(d.answer()->plan.context.count(), 32768);
    EXPECT_EQ(d.step()->plan->context.count(), 32768);
}

TEST(Document, AMeasuredRunLiesBesideItsPrediction) {
    Document d;
    std::filesystem::path run;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(HEADROOM_SOURCE_DIR) + "/traces")) {
        if (entry.path().string().ends_with(".trace.json.gz")) run = entry.path();
    }
    ASSERT_FALSE(run.empty());
    d.open(run);
    ASSERT_TRUE(becomes([&] { return d.predicted() != nullptr; }));
    EXPECT_EQ(d.kind(), Document::Kind::timeline);
    EXPECT_TRUE(d.measured()->measured());
    EXPECT_EQ(d.step(), d.measured());
    EXPECT_EQ(d.predicted()->timeline.ops.size(), d.measured()->timeline.ops.size());
    d.look_at(Document::Side::predicted);
    EXPECT_EQ(d.step(), d.predicted());
}

TEST(Document, ARunOfThePlanThatIsOpenIsLaidBesideIt) {
    const QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    Document d;
    std::string said;
    QObject::connect(&d, &Document::failed, [&](const Error& e) { said = e.text(); });
    d.open(scenario("tiny-cpu"));
    ASSERT_TRUE(becomes([&] { return d.answer_final(); }));
    Timeline run = d.predicted()->timeline;
    run.source = "measured";
    ASSERT_TRUE(write_timeline(run, root / "run.trace.json.gz"));
    // The same operations under another plan's name.
    run.plan_hash = "0123456789abcdef";
    ASSERT_TRUE(write_timeline(run, root / "sister.trace.json.gz"));
    for (const char* name : {"run", "sister"}) {
        const QString file = QString(name) + ".trace.json.gz";
        d.open_measured(root / file.toStdString());
        ASSERT_TRUE(becomes([&] { return d.measured() && d.measured()->name == file; })) << said;
    }
    EXPECT_EQ(said, "");
    EXPECT_EQ(d.kind(), Document::Kind::scenario);
    EXPECT_EQ(d.step(), d.predicted()) << "what is looked at stays";

    const StepPtr before = d.measured();
    run.source = "simulated";
    ASSERT_TRUE(write_timeline(run, root / "simulated.trace.json.gz"));
    run.source = "measured";
    run.ops.pop_back();
    run.waits_begin.pop_back();
    run.waits.resize(run.waits_begin.back());
    ASSERT_TRUE(write_timeline(run, root / "shorter.trace.json.gz"));
    const std::pair<std::filesystem::path, const char*> wrong[] = {
        {root / "simulated.trace.json.gz", "is a simulated timeline"},
        {root / "shorter.trace.json.gz", "of another plan (hash 0123456789abcdef), with other operations: "},
        {scenario("tiny-cpu"), "is a scenario"},
        {root / "missing.trace.json.gz", "does not exist"}};
    for (const auto& [file, part] : wrong) {
        said.clear();
        d.open_measured(file);
        ASSERT_TRUE(becomes([&] { return !said.empty(); })) << file;
        EXPECT_NE(said.find(part), said.npos) << said;
        EXPECT_NE(said.find(file.filename().string()), said.npos) << said;
    }
    EXPECT_EQ(d.measured(), before);
}

TEST(Document, APlanIsPricedAsItStands) {
    Document first;
    first.open(scenario("qwen2.5-7b-64k-exact-h200"));
    ASSERT_TRUE(becomes([&] { return first.answer() != nullptr; }));
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("plan.json").toStdString();
    ASSERT_TRUE(write_file(file, write_plan(first.answer()->plan)));
    Document d;
    bool together = false;
    QObject::connect(&d, &Document::answer_changed,
                     [&] { together = d.answer() != nullptr && d.predicted() != nullptr; });
    d.open(file);
    ASSERT_TRUE(becomes([&] { return d.step() != nullptr; }));
    EXPECT_TRUE(together) << "both are of one simulation";
    EXPECT_EQ(d.step()->duration_ns(), d.answer()->evaluation.step_ns);
    EXPECT_EQ(d.step()->timeline.plan_hash, plan_hash(*d.plan()));
    EXPECT_EQ(d.answer()->evaluation.step_ns, first.answer()->evaluation.step_ns);
    EXPECT_EQ(d.kind(), Document::Kind::plan);
    EXPECT_EQ(*d.plan(), first.answer()->plan);
    EXPECT_TRUE(d.answer_final());
}

TEST(Document, APlanWithoutAFileIsOpenedInPlaceOfTheScenario) {
    Document d;
    d.open(scenario("qwen2.5-7b-64k-exact-h200"));
    ASSERT_TRUE(becomes([&] { return d.answer() != nullptr; }));
    EXPECT_EQ(d.title(), "qwen2.5-7b-64k-exact-h200.toml");
    const Plan plan = d.answer()->plan;
    QSignalSpy opened(&d, &Document::opened);
    d.open_plan(plan, "chunked at 64Ki");
    EXPECT_EQ(opened.count(), 1);
    EXPECT_EQ(d.kind(), Document::Kind::plan);
    EXPECT_EQ(d.title(), "chunked at 64Ki");
    EXPECT_TRUE(d.path().empty());
    EXPECT_EQ(d.scenario(), nullptr);
    ASSERT_TRUE(becomes([&] { return d.step() != nullptr; }));
    EXPECT_EQ(*d.plan(), plan);
}

TEST(Document, BrokenFilesOfEveryKindAreErrors) {
    const QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    const std::pair<const char*, const char*> broken[] = {{"a.toml", "model = "},
                                                          {"b.json", "{\"schema_version\": 2"},
                                                          {"c.trace.json", "{\"traceEvents\": [}"},
                                                          {"d.trace.json.gz", "\x1f\x8b\x08"},
                                                          {"e.bin", "\x01\x02"},
                                                          {"f.toml", ""}};
    for (const auto& [name, content] : broken) ASSERT_TRUE(write_file(root / name, content));
    std::vector<std::filesystem::path> files{root, root / "missing.toml"};
    for (const auto& [name, content] : broken) files.push_back(root / name);
    for (const auto& file : files) {
        Document d;
        std::string said;
        QObject::connect(&d, &Document::failed, [&](const Error& e) { said = e.text(); });
        d.open(file);
        ASSERT_TRUE(becomes([&] { return !said.empty(); })) << file;
        EXPECT_NE(said.find(file.filename().string()), said.npos) << said;
        EXPECT_EQ(d.kind(), Document::Kind::none);
    }
}

}  // namespace
}  // namespace headroom::gui::test
