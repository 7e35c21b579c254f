#include "fidelity/run_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "fidelity/run_set.h"
#include "plan/plan.h"
#include "plan/throughput.h"
#include "sim/base/scratch_folder.h"

namespace headroom::fidelity {
namespace {

const std::string kTraces = std::string(HEADROOM_SOURCE_DIR) + "/traces/";

class RunSummaryFile : public ScratchFolder {};

// A real run, whole and as its summary: what is kept says the same, in a few kilobytes.
TEST_F(RunSummaryFile, KeepsARealRunInKilobytes) {
    const Result<Timeline> t = read_timeline(kTraces + "h200-2026-11-29/qwen2.5-7b-64k-exact.trace.json.gz");
    ASSERT_TRUE(t) << t.error().text();
    RunSummary s;
    s.name = "n";
    take_timeline(s, *t);
    EXPECT_EQ(s.machine, t->machine);
    EXPECT_EQ(s.date, t->date);
    EXPECT_EQ(s.figures, figures_of(*t, kCurveBins));
    // As traces/README.md has them, by the host's clock: it sees 0.3 % more than the GPU's.
    EXPECT_NEAR(s.tokens_per_second, 4893, 0.005 * 4893);
    EXPECT_NEAR(s.mfu, 0.405, 0.005 * 0.405);
    ASSERT_EQ(s.losses.size(), 1u);
    EXPECT_NEAR(s.losses[0], 10.157, 0.001);

    const std::string packed = gzip(write_run(s));
    EXPECT_LT(packed.size(), 30'000u);
    ASSERT_TRUE(write_file(at("n.run.json.gz"), packed));
    const Result<RunSummary> again = read_run(at("n.run.json.gz"));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->figures, s.figures);
    EXPECT_EQ(write_run(*again), write_run(s));
    const Result<Plan> plan = parse_plan(again->plan, "n");
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_EQ(plan_hash(*plan), s.plan_hash);
}

TEST(RunSummary, TakesWhatTheEngineTold) {
    EngineTold told;
    for (
        const char* line :
        {"not json", "[1]", "{\"event\": 3}",
         R"({"event":"start","device":"GPU, CUDA driver 13.0","ops":5,"device_arena_bytes":100,"host_arena_bytes":7})",
         R"({"event":"progress","step":0,"op":1,"share":0.5})",
         R"({"event":"step","step":0,"loss":12.5,"gradient_norm":2,"seconds":1.5,"device_used_bytes":150})",
         R"({"event":"step","step":1,"loss":null,"gradient_norm":3,"seconds":1.25,"device_used_bytes":160})"})
        take_line(told, line);
    EXPECT_FALSE(told.ended);
    take_line(
        told,
        R"({"event":"end","steps":2,"device_arena_bytes":100,"host_arena_bytes":7,"device_used_bytes":161})");
    EXPECT_TRUE(told.ended);
    RunSummary s;
    take_told(s, told);
    EXPECT_EQ(s.machine, "GPU, CUDA driver 13.0");
    EXPECT_EQ(s.step_seconds, (std::vector<double>{1.5, 1.25}));
    ASSERT_EQ(s.losses.size(), 2u);
    EXPECT_EQ(s.losses[0], 12.5);
    EXPECT_TRUE(std::isnan(s.losses[1]));
    EXPECT_EQ(s.gradient_norm, 3);
    EXPECT_EQ(s.device_arena_bytes, 100);
    EXPECT_EQ(s.device_used_bytes, 161);
    EXPECT_EQ(s.pinned_bytes, 7);
    // What is no number comes back as none.
    const Result<RunSummary> again = parse_run(write_run(s), "s");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_TRUE(std::isnan(again->losses[1]));
}

TEST(RunSummary, RefusesAnotherVersionAndMissingKeys) {
    EXPECT_FALSE(parse_run("{}", "s"));
    EXPECT_FALSE(parse_run("{\"schema_version\": 2}", "s"));
    std::string text = write_run({});
    const size_t key = text.find("\"exit_code\"");
    text.replace(key, 11, "\"exit_cod\"");
    const Result<RunSummary> r = parse_run(text, "s");
    ASSERT_FALSE(r);
    EXPECT_NE(r.error().text().find("exit_code"), std::string::npos);
}

TEST(RunSet, IsReadBackEqualAndSaysHowWellItRepeats) {
    RunSet s;
    s.id = 3, s.machine = "m", s.date = "d", s.commit = "c", s.repeated = "a";
    s.repeat_step_ns = {1000};
    EXPECT_EQ(s.repeatability(), 0);
    s.repeat_step_ns = {1000, 1020, 990};
    EXPECT_NEAR(s.repeatability(), 30.0 / 990, 1e-12);
    s.calibration = {"gemm 1 % off"};
    const Result<RunSet> again = parse_run_set(write_run_set(s), "s");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, s);
    s.hardware = "h";
    EXPECT_EQ(parse_run_set(write_run_set(s), "s").value(), s);
    RunSet other;
    other.id = 4;
    const std::vector<RunSet> sets{s, other};
    EXPECT_EQ(hardware_of(sets, 3, "planned"), "h");
    EXPECT_EQ(hardware_of(sets, 4, "planned"), "planned");
    EXPECT_EQ(hardware_of(sets, 5, "planned"), "planned");
    EXPECT_FALSE(parse_run_set("{\"schema_version\": 1, \"id\": 0}", "s"));
}

}  // namespace
}  // namespace headroom::fidelity
