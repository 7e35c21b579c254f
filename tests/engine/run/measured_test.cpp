// What a run on the CPU writes down: the program's ops at measured times, memory to the byte, and a file that
// reads back.
#include "run/measured.h"

#include <unistd.h>

#include <filesystem>

#include "engine/run/small_model.h"
#include "search/evaluate.h"
#include "timeline/check.h"
#include "timeline/compare.h"

namespace headroom::engine::test {
namespace {

TEST(Measured, LiesBesideThePrediction) {
    SmallRun run(small_plan({"qwen2", true, false, 0, ""}, Dtype::fp32, 100, 32, 8));
    StepResult step = run.step();
    const double loss = step.loss;
    const Result<Timeline> measured =
        measured_timeline(run.plan, run.program, std::move(step), "a CPU", "2026-11-29");
    ASSERT_TRUE(measured) << measured.error().text();
    EXPECT_EQ(measured->source, "measured");
    EXPECT_EQ(measured->results.at("loss"), loss);

    const Result<Timeline> predicted = predict(run.plan);
    ASSERT_TRUE(predicted) << predicted.error().text();
    const Result<Comparison> c = compare(*predicted, *measured);
    ASSERT_TRUE(c) << c.error().text();
    EXPECT_TRUE(c->same_plan);
    EXPECT_EQ(c->unmatched_ops, 0);
    size_t tiers = 0;
    for (const Difference& d : c->differences) {
        if (d.group != "tier") continue;
        ++tiers;
        EXPECT_EQ(d.predicted, d.measured) << d.what;
    }
    EXPECT_GT(tiers, 0u);

    const auto path = std::filesystem::path(testing::TempDir()) /
                      ("headroom_measured." + std::to_string(getpid()) + ".trace.json.gz");
    ASSERT_TRUE(write_timeline(*measured, path));
    const Result<Timeline> read = read_timeline(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, *measured);
}

}  // namespace
}  // namespace headroom::engine::test
