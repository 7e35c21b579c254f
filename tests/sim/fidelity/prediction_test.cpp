#include "fidelity/prediction.h"

#include <gtest/gtest.h>

#include "search/evaluate.h"
#include "sim/plan/fixture.h"

namespace headroom::fidelity {
namespace {

Plan small(bool sparse) {
    Plan p = headroom::test::small_plan();
    p.decisions.attention.sparse = sparse;
    return p;
}

TEST(Prediction, IsThatOfThePlanner) {
    const Plan plan = small(false);
    const Result<Prediction> p = predict_plan(plan, std::nullopt, "n", "fit");
    const Result<Evaluation> e = evaluate(plan, true);
    ASSERT_TRUE(p && e);
    EXPECT_EQ(p->figures.step_ns, e->step_ns);
    EXPECT_EQ(p->plan_hash, plan_hash(plan));
    for (size_t t = 0; t < kTiers; ++t) {
        EXPECT_EQ(p->need_bytes[t], e->tiers[t].need_bytes);
        EXPECT_EQ(p->budget_bytes[t], e->tiers[t].budget_bytes);
        EXPECT_EQ(p->figures.tiers[t].peak_bytes, e->tiers[t].peak.bytes);
    }
    EXPECT_TRUE(p->fits());
    EXPECT_TRUE(p->selection_source.empty());
}

TEST(Prediction, IsReadBackEqual) {
    Result<Prediction> p = predict_plan(small(true), std::nullopt, "n", "unseen");
    ASSERT_TRUE(p) << p.error().text();
    p->date = "today", p->commit = "abc", p->question = "what \"if\"";
    const Result<Prediction> again = parse_prediction(write_prediction(*p), "p");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, *p);
    EXPECT_FALSE(parse_prediction("{}", "p"));
    EXPECT_FALSE(parse_prediction("{\"schema_version\": 2}", "p"));
}

TEST(Prediction, FitsUpToTheByte) {
    Prediction p;
    p.need_bytes = {100, 50, 0}, p.budget_bytes = {100, 50, 0};
    EXPECT_TRUE(p.fits());
    p.need_bytes[1] = 51;
    EXPECT_FALSE(p.fits());
}

// Another selection changes what travels, never what the plan was sized for.
TEST(Prediction, DrawsFromTheSelectionThatItIsGiven) {
    Plan plan = small(true);
    plan.context = Tokens(16384);
    plan.decisions.attention.budget = 16;
    plan.decisions.attention.local = 2;
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = {};
    plan.selection.block_reuse = plan.selection.chunk_reuse = 0;
    SelectionModel seen;
    seen.block_reuse = seen.chunk_reuse = 1;
    seen.source = "here";
    const Result<Prediction> own = predict_plan(plan, std::nullopt, "n", "fit");
    const Result<Prediction> other = predict_plan(plan, seen, "n", "fit");
    ASSERT_TRUE(own && other);
    EXPECT_EQ(own->need_bytes, other->need_bytes);
    EXPECT_EQ(own->plan_hash, other->plan_hash);
    EXPECT_NE(other->selection_source.find("here"), std::string::npos) << other->selection_source;
    EXPECT_LT(other->figures.traffic.loaded_bytes, own->figures.traffic.loaded_bytes);
}

}  // namespace
}  // namespace headroom::fidelity
