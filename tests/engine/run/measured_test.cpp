// What a run on the CPU writes down: the program's ops at measured times, memory to the byte, and a file that
// reads back.
#include "run/measured.h"

#include <unistd.h>

#include <filesystem>

#include "engine/run/small_model.h"
#include "program/names.h"
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

// One call does the work of the head's ops, tile by tile; each is shown as long as its share was.
TEST(Measured, TheHeadsTilesCountForTheirOps) {
    Plan plan = small_plan({"qwen2", true, false, 0, ""}, Dtype::fp32, 512, 256, 8);
    plan.decisions.loss_tile = Tokens(32);
    SmallRun run(std::move(plan));
    const StepResult step = run.step();
    size_t heads = 0;
    for (OpId op = 0; op < run.program.size(); ++op) {
        if (run.program.ops[op].kind != OpKind::head) continue;
        ++heads;
        for (const OpKind kind :
             {OpKind::head, OpKind::loss, OpKind::weight_gradient, OpKind::head_backward}) {
            EXPECT_EQ(run.program.ops[op].kind, kind);
            // An op that does nothing takes a tenth of a microsecond; eight tiles of any of them take more.
            EXPECT_GT(step.end_ns[op] - step.start_ns[op], 2000) << name_of(kind);
            EXPECT_LE(step.end_ns[op], step.start_ns[op + 1]) << name_of(kind);
            ++op;
        }
        EXPECT_EQ(step.start_ns[op - 3], step.end_ns[op - 4]);
        EXPECT_EQ(step.start_ns[op - 2], step.end_ns[op - 3]);
        EXPECT_EQ(step.start_ns[op - 1], step.end_ns[op - 2]);
    }
    EXPECT_EQ(heads, 2u);
}

}  // namespace
}  // namespace headroom::engine::test
