// The answers hold together: remedies that fit when written into the scenario, the largest context to the
// page, gains that are none where nothing changes.
#include "search/answer.h"

#include <gtest/gtest.h>

#include "search/evaluate.h"
#include "search/gains.h"
#include "search/search.h"
#include "search/step.h"
#include "sim/search/fixture.h"

namespace headroom {
namespace {

using namespace test;

AnswerOptions plain() {
    AnswerOptions options;
    options.gains = options.remedies = false;
    return options;
}

TEST(Answer, IsThatOfItsPlan) {
    const Result<Answer> found = answer(tiny("chunk = 1024"), plain());
    ASSERT_TRUE(found) << found.error().text();
    const Result<Answer> again = answer(found->plan);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->evaluation.step_ns, found->evaluation.step_ns);
    EXPECT_EQ(again->bound_ns, found->bound_ns);
    for (size_t t = 0; t < kTiers; ++t)
        EXPECT_EQ(again->evaluation.tiers[t].need_bytes, found->evaluation.tiers[t].need_bytes);
    const double seconds = static_cast<double>(found->evaluation.step_ns) * 1e-9;
    EXPECT_NEAR(found->tokens_per_second * seconds, 4096, 1e-6);
    EXPECT_NEAR(found->mfu * seconds * found->plan.hardware.dense_flops, useful_flops(found->plan),
                1e-3 * useful_flops(found->plan));
}

// One simulation says what two said.
TEST(Answer, ComesWithItsStep) {
    const Result<Answer> found = answer(tiny("chunk = 1024"), plain());
    ASSERT_TRUE(found) << found.error().text();
    const Result<AnsweredStep> both = answer_step(found->plan);
    ASSERT_TRUE(both) << both.error().text();
    const Result<Answer> alone = answer(found->plan);
    const Result<Timeline> step = predict(found->plan);
    ASSERT_TRUE(alone && step);
    EXPECT_TRUE(both->timeline == *step);
    const Evaluation &a = both->answer.evaluation, &b = alone->evaluation;
    EXPECT_EQ(a.step_ns, b.step_ns);
    EXPECT_EQ(a.ops, b.ops);
    ASSERT_EQ(a.traffic.size(), b.traffic.size());
    for (size_t i = 0; i < a.traffic.size(); ++i) {
        EXPECT_EQ(a.traffic[i].loaded_bytes, b.traffic[i].loaded_bytes) << i;
        EXPECT_EQ(a.traffic[i].written_bytes, b.traffic[i].written_bytes) << i;
    }
    for (size_t t = 0; t < kTiers; ++t) {
        EXPECT_EQ(a.tiers[t].peak.bytes, b.tiers[t].peak.bytes);
        EXPECT_EQ(a.tiers[t].peak.time_ns, b.tiers[t].peak.time_ns);
        EXPECT_EQ(a.statistics.peaks[t].bytes, b.statistics.peaks[t].bytes);
    }
    // One is of the timeline, the other of the program and its simulation.
    EXPECT_EQ(a.statistics.duration_ns, b.statistics.duration_ns);
    EXPECT_EQ(a.statistics.pass_ns, b.statistics.pass_ns);
    EXPECT_EQ(a.statistics.critical_path, b.statistics.critical_path);
    EXPECT_EQ(a.statistics.critical_ns, b.statistics.critical_ns);
    EXPECT_EQ(a.statistics.hidden_share, b.statistics.hidden_share);
    for (size_t i = 0; i < kStreams; ++i) {
        EXPECT_EQ(a.statistics.streams[i].busy_ns, b.statistics.streams[i].busy_ns) << i;
        EXPECT_EQ(a.statistics.streams[i].hidden_ns, b.statistics.streams[i].hidden_ns) << i;
        EXPECT_EQ(a.statistics.streams[i].flops, b.statistics.streams[i].flops) << i;
    }
    for (size_t k = 0; k < kOpKinds; ++k) {
        EXPECT_EQ(a.statistics.kinds[k].count, b.statistics.kinds[k].count) << k;
        EXPECT_EQ(a.statistics.kinds[k].total_ns, b.statistics.kinds[k].total_ns) << k;
        EXPECT_EQ(a.statistics.kinds[k].bytes, b.statistics.kinds[k].bytes) << k;
    }
    Plan wrong = found->plan;
    wrong.context = Tokens(0);
    EXPECT_FALSE(answer_step(wrong));
    EXPECT_EQ(answer_step(wrong).error().text(), answer(wrong).error().text());
}

TEST(Answer, MoreOfAnythingIsNeverSlower) {
    const std::string text = on_h200("Qwen2.5-7B", "256Ki", "chunk = 8192\npage_copy = \"batch\"");
    const Result<Answer> found = answer(scenario_of(text));
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_TRUE(found->fits());
    ASSERT_FALSE(found->gains.empty());
    for (const Gain& g : found->gains) {
        EXPECT_TRUE(g.fits) << g.what;
        EXPECT_LE(g.step_ns, found->evaluation.step_ns) << g.what;
        EXPECT_GT(g.step_ns, 0) << g.what;
    }
}

// What runs beside each other in one call is what two calls do one after the other.
TEST(Answer, InOneIsAsInParts) {
    const Scenario s = scenario_of(on_h200("Qwen2.5-7B", "256Ki", "chunk = 8192\npage_copy = \"batch\""));
    const Result<Answer> one = answer(s);
    ASSERT_TRUE(one) << one.error().text();
    Searcher searcher(s);
    Result<Answer> parts = answer_plan(s, searcher);
    ASSERT_TRUE(parts) << parts.error().text();
    EXPECT_TRUE(parts->gains.empty());
    ASSERT_TRUE(explain(s, searcher, *parts, {}));
    EXPECT_EQ(one->plan.decisions, parts->plan.decisions);
    EXPECT_EQ(one->evaluation.step_ns, parts->evaluation.step_ns);
    EXPECT_EQ(one->scored, parts->scored);
    EXPECT_EQ(one->simulated, parts->simulated);
    ASSERT_EQ(one->gains.size(), 4U);
    ASSERT_EQ(parts->gains.size(), 4U);
    for (size_t i = 0; i < one->gains.size(); ++i) {
        EXPECT_EQ(one->gains[i].what, parts->gains[i].what);
        EXPECT_EQ(one->gains[i].step_ns, parts->gains[i].step_ns);
        EXPECT_EQ(one->gains[i].changes, parts->gains[i].changes);
    }
}

TEST(Gains, ASearchThatNoOneNeedsStops) {
    const Result<Scenario> s = read_scenario(source() / "scenarios" / "qwen2.5-7b-4m-h200.toml", source());
    ASSERT_TRUE(s) << s.error().text();
    SecondGpuSearch search(*s);
    ASSERT_TRUE(search.started());
    search.stop();
    const Result<Found> found = search.get();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().fault, Fault::interrupted);
}

// Four million tokens of Qwen2.5-7B on one H200 beside 96 GiB of pinned host memory: fp8 pages fit with any
// of these recipes, bf16 pages with none.
TEST(Answer, FourMillionTokensFitInFp8Pages) {
    for (const std::vector<std::string>& recipe : {std::vector<std::string>{"training.optimizer=sgd"},
                                                   {"training.optimizer=adamw8bit"},
                                                   {"training.optimizer=adamw", "training.states=bf16"}}) {
        for (const bool fp8 : {true, false}) {
            std::vector<std::string> set = recipe;
            if (!fp8) set.insert(set.end(), {"plan.kv_dtype=bf16", "budget.disk=0"});
            const Result<Scenario> s =
                read_scenario(source() / "scenarios" / "qwen2.5-7b-4m-h200.toml", source(), set);
            ASSERT_TRUE(s) << s.error().text();
            const Result<Answer> found = answer(*s, plain());
            ASSERT_TRUE(found) << found.error().text();
            EXPECT_EQ(found->fits(), fp8) << recipe.back();
            EXPECT_EQ(found->plan.decisions.kv, fp8 ? Dtype::fp8 : Dtype::bf16);
            EXPECT_EQ(found->plan.budget.host, Bytes(96 * kGiB));
        }
    }
}

TEST(Remedies, FitWhenWrittenIntoTheScenario) {
    const std::string text = on_h200("Qwen2.5-7B", "1Mi",
                                     "strategy = \"chunked\"\nchunk = 8192\nstates_home = \"device\"\nkv = "
                                     "\"device\"\nkv_gradients = \"device\"");
    AnswerOptions options;
    options.gains = false;
    const Result<Answer> found = answer(scenario_of(text), options);
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_FALSE(found->fits());
    ASSERT_FALSE(found->remedies.empty());
    for (const Remedy& r : found->remedies) {
        SCOPED_TRACE(r.setting);
        const Result<Scenario> changed = parse_scenario(text, "test.toml", source(), source(), {r.setting});
        ASSERT_TRUE(changed) << changed.error().text();
        const Result<Answer> then = answer(*changed, plain());
        ASSERT_TRUE(then) << then.error().text();
        EXPECT_TRUE(then->fits());
    }
}

TEST(MaxContext, IsTightToThePage) {
    for (const char* plan :
         {"chunk = 1024\nstrategy = \"chunked\"",
          "strategy = \"chunked\"\nchunk = 1024\nkv = \"disk\"\nkv_gradients = \"disk\""}) {
        SCOPED_TRACE(plan);
        Scenario s = tiny(plan, 2048);
        s.plan.budget = {Bytes(700 * kMiB), Bytes(256 * kMiB), Bytes(256 * kMiB)};
        const Result<MaxContext> most = max_context(s);
        ASSERT_TRUE(most) << most.error().text();
        EXPECT_TRUE(most->at.fits());
        EXPECT_EQ(most->next.count(), most->context.count() + 128);
        EXPECT_GT(most->next_excess_bytes, 0);
        if (s.fixed.contains("kv")) continue;  // bytes on disk are scored within 5 %, so not to the page
        s.plan.context = most->next;
        const Result<Answer> beyond = answer(s, plain());
        ASSERT_TRUE(beyond) << beyond.error().text();
        EXPECT_FALSE(beyond->fits());
    }
}

}  // namespace
}  // namespace headroom
