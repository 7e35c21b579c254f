// The search against every plan of a small space, simulated one by one; and what it must never touch.
#include "search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "plan/names.h"
#include "sim/search/fixture.h"
#include "strategy/strategy.h"

namespace headroom {
namespace {

using namespace test;

constexpr const char* kMostFixed =
    "strategy = \"chunked\"\nchunk = 1024\nactivations = \"keep\"\nweights_home = \"device\"\ngradients_home "
    "= \"device\"\n"
    "states_home = \"device\"\nstaging_slots = 2\nprefetch = 1\nstaging_slot = \"1MiB\"\npage_copy = "
    "\"batch\"\n";

// Least step time of all plans that fit: the strategies' grids, each with every number of layers on the
// device.
int64_t least_of_all(const Scenario& s) {
    int64_t least = std::numeric_limits<int64_t>::max();
    const auto price = [&](const Plan& plan) {
        if (!check_plan(plan, "")) return;
        const Result<Evaluation> e = evaluate(plan, false);
        if (e && e->fits()) least = std::min(least, e->step_ns);
    };
    const int64_t layers = s.plan.model.layer_count();
    for (const Strategy* strategy : strategies()) {
        if (s.fixed.contains("strategy") && s.plan.decisions.strategy != strategy->name()) continue;
        strategy->candidates(s, [&](const Decisions& d) {
            Plan plan = s.plan;
            plan.decisions = d;
            plan.gpus = d.tensor_ranks * d.ring_ranks;
            const bool shares = plan.chunks() > 1 && d.strategy != "layer-major";
            for (int64_t kv = 0; kv <= (shares && !s.fixed.contains("kv") ? layers : 0); ++kv) {
                for (int64_t gr = 0; gr <= (shares && !s.fixed.contains("kv_gradients") ? layers : 0); ++gr) {
                    if (shares && !s.fixed.contains("kv")) plan.decisions.kv_residency = {kv, 0, 0};
                    if (shares && !s.fixed.contains("kv_gradients"))
                        plan.decisions.kv_gradient_residency = {gr, 0, 0};
                    price(plan);
                }
            }
        });
    }
    return least;
}

int64_t device_need(const Scenario& s, int64_t layers) {
    Plan plan = s.plan;
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = {layers, 0, 0};
    const Result<Evaluation> e = evaluate(plan, false);
    EXPECT_TRUE(e) << (e ? "" : e.error().text());
    return e ? e->tiers[0].need_bytes : 0;
}

// Device budgets from just what offloading everything needs up to what keeping everything needs.
TEST(Search, FindsTheFastestOfEveryPlan) {
    Scenario s = tiny(kMostFixed, 8192);
    const int64_t least = device_need(s, 0), most = device_need(s, 4);
    ASSERT_LT(least, most);
    for (int64_t i = 0; i <= 4; ++i) {
        s.plan.budget.device = Bytes(least + (most - least) * i / 4);
        SCOPED_TRACE(s.plan.budget.device.count());
        Searcher searcher(s);
        const Result<Found> found = searcher.best(s.plan.budget);
        ASSERT_TRUE(found) << found.error().text();
        ASSERT_TRUE(found->evaluation.fits());
        EXPECT_EQ(found->evaluation.step_ns, least_of_all(s));
    }
}

TEST(Search, SaysThatNothingFitsOnlyWhereNothingDoes) {
    Scenario s = tiny(kMostFixed, 8192);
    Searcher searcher(s);
    s.plan.budget.device = Bytes(device_need(s, 0) / 2);
    const Result<Found> found = searcher.best(s.plan.budget);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_FALSE(found->evaluation.fits());
    EXPECT_EQ(least_of_all(s), std::numeric_limits<int64_t>::max());
}

TEST(Search, MoreMemoryIsNeverSlower) {
    const Scenario s = tiny(kMostFixed, 8192);
    const int64_t least = device_need(s, 0), most = device_need(s, 4);
    Searcher searcher(s);
    int64_t before = std::numeric_limits<int64_t>::max();
    for (int64_t i = 0; i <= 8; ++i) {
        Budget b = s.plan.budget;
        b.device = Bytes(least + (most - least) * i / 8);
        const Result<Found> found = searcher.best(b);
        ASSERT_TRUE(found) << found.error().text();
        EXPECT_LE(found->evaluation.step_ns, before) << b.device.count();
        before = found->evaluation.step_ns;
    }
}

// Candidates that differ in what does nothing here are one step, simulated once.
TEST(Search, TheSameStepIsSimulatedOnce) {
    const Result<Scenario> s =
        read_scenario(source() / "scenarios" / "qwen2.5-7b-64k-exact-h200.toml", source());
    ASSERT_TRUE(s) << s.error().text();
    Searcher searcher(*s);
    const Result<Searcher::Ranking> ranking = searcher.rank(s->plan.budget);
    ASSERT_TRUE(ranking) << ranking.error().text();
    ASSERT_FALSE(ranking->small);
    std::set<std::pair<std::string, int64_t>> steps;
    for (size_t i = 0; i < ranking->sampled; ++i) {
        const Searcher::Candidate& c = ranking->candidates[i];
        ASSERT_EQ(c.excess, 0);
        steps.emplace(c.decisions.strategy, c.time_ns);
    }
    ASSERT_LT(steps.size(), ranking->sampled);
    SearchOptions all;
    all.op_budget = std::numeric_limits<int64_t>::max();
    const Result<Found> found = searcher.simulate_best(*ranking, all);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->simulated, static_cast<int64_t>(steps.size()));
    EXPECT_EQ(found->evaluation.step_ns, searcher.best(s->plan.budget)->evaluation.step_ns);
}

// Chunk and page change the result where pages are selected; the other keys always.
TEST(Search, LeavesTheTrainedResultAlone) {
    for (const char* plan : {"attention = \"sparse\"\nchunk = 1024", "kv_dtype = \"fp8\"",
                             "kv_gradients_dtype = \"fp32\"", "page = 64"}) {
        SCOPED_TRACE(plan);
        const Scenario s = tiny(plan, 8192);
        Searcher searcher(s);
        SearchOptions options;
        options.exact = false;
        const Result<Found> found = searcher.best(s.plan.budget, options);
        ASSERT_TRUE(found) << found.error().text();
        const Decisions &a = s.plan.decisions, &b = found->plan.decisions;
        EXPECT_EQ(a.attention, b.attention);
        EXPECT_EQ(a.page, b.page);
        if (a.attention.sparse) {
            EXPECT_EQ(a.chunk, b.chunk);
        }
        EXPECT_EQ(a.honour_windows, b.honour_windows);
        EXPECT_EQ(a.weights, b.weights);
        EXPECT_EQ(a.kv, b.kv);
        EXPECT_EQ(a.kv_gradients, b.kv_gradients);
        EXPECT_EQ(s.plan.recipe, found->plan.recipe);
    }
}

}  // namespace
}  // namespace headroom
