// Runs that are kept under traces/, predicted again from the hardware file as it is now: a change of the cost
// model or of the lowering that worsens a prediction beyond its bounds fails here. The prediction reads
// nothing of a run but its plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "fidelity/judge.h"
#include "hardware/hardware.h"

namespace headroom::fidelity {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = HEADROOM_SOURCE_DIR;

Prediction predicted_now(const RunSummary& run, const std::optional<SelectionModel>& selection) {
    Plan plan = parse_plan(run.plan, run.name).value();
    plan.hardware = read_hardware(plan.hardware.name, kRoot).value();
    return predict_plan(plan, selection, run.name, std::string(name_of(half_of(run.name)))).value();
}

// Whole timelines of before there were suites; their step errors as they stood when they were recorded
// (recorded_runs_test.cpp holds the same runs to them op by op).
TEST(RecordedRuns, AreJudgedFromTheirSummaries) {
    for (const char* file : {"h200-2026-11-29/qwen2.5-7b-8k-exact", "h200-2026-11-29/qwen2.5-7b-64k-exact",
                             "h200-2026-11-30/qwen2.5-7b-64k-exact-offload"}) {
        SCOPED_TRACE(file);
        const Result<Timeline> t = read_timeline(kRoot / "traces" / (std::string(file) + ".trace.json.gz"));
        ASSERT_TRUE(t) << t.error().text();
        RunSummary run;
        run.name = file;
        take_timeline(run, *t);
        const Prediction p = predicted_now(run, std::nullopt);
        for (const Finding& f : judge(p, run)) {
            if (f.group != "step" && f.group != "memory") continue;
            // The summary of a timeline alone does not say what was pinned.
            EXPECT_TRUE(f.within() || f.what == "pinned") << f.what << " " << f.error();
        }
    }
}

// Folders of traces/ that hold a suite's runs; their suite is the shipped one of the folder's machine, as in
// "h200-2026-12-01-suite". The unseen half keeps median and worst, and every plan its memory and its streams.
std::vector<std::string> kept() {
    std::vector<std::string> folders;
    for (const auto& folder : fs::directory_iterator(kRoot / "traces"))
        if (folder.path().string().ends_with("-suite")) folders.push_back(folder.path().filename().string());
    std::sort(folders.begin(), folders.end());
    return folders;
}

class RecordedSuites : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedSuites, StayWithinTheirBounds) {
    const std::string machine = GetParam().substr(0, GetParam().find('-'));
    const Result<Suite> suite = read_suite(kRoot / "scenarios" / "fidelity" / (machine + ".toml"));
    ASSERT_TRUE(suite) << suite.error().text();
    Results r;
    for (const auto& file : fs::directory_iterator(kRoot / "traces" / GetParam())) {
        const std::string name = file.path().filename().string();
        // Rungs of a ladder are judged by whether they ran.
        if (!name.ends_with(".run.json.gz") || name.find('@') != name.npos) continue;
        Entry e;
        Result<RunSummary> run = read_run(file.path());
        ASSERT_TRUE(run) << run.error().text();
        e.plan.name = run->name;
        e.plan.half = half_of(run->name);
        if (run->ran()) e.prediction = predicted_now(*run, suite->selection);
        e.run = std::move(*run);
        r.entries.push_back(std::move(e));
    }
    ASSERT_FALSE(r.entries.empty());
    for (const Verdict& v : verdicts(r))
        EXPECT_NE(v.within, false) << v.what << ": " << v.found << ", " << v.where;
}

INSTANTIATE_TEST_SUITE_P(Traces, RecordedSuites, ::testing::ValuesIn(kept()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RecordedSuites);

}  // namespace
}  // namespace headroom::fidelity
