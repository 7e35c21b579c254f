// The search against every plan of a small space, simulated one by one; and what it must never touch.
#include "search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>
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
// All that costs bytes in some tier and saves none in another is fixed: the candidates are those that
// roomiest() looks at.
constexpr const char* kTight =
    "prefetch = 1\nstaging_slots = 2\nwavefront = 1\npage_cache = 0\npage_copy = \"batch\"\n"
    "attention_outputs = \"recompute\"\n";

TEST(Search, TheRoomiestIsThatOfAllScoredInFull) {
    const std::string sparse = "attention = { kind = \"sparse\", budget = 64, block = 4096 }\n";
    const struct {
        const char *model, *context;
        std::string plan;
        std::vector<std::string> set;
        bool fits;
    } cases[] = {{"Qwen2.5-72B", "128Ki", kTight, {}, false},
                 {"Qwen2.5-7B", "64Ki", kTight, {}, true},
                 {"Qwen2.5-7B", "512Ki", kTight, {"budget.host=40GiB", "budget.disk=1TiB"}, true},
                 {"Qwen2.5-7B", "1Mi", kTight + sparse, {}, true},
                 {"Qwen2.5-7B", "2Mi", kTight + sparse, {"budget.host=32GiB", "budget.disk=1TiB"}, true},
                 {"Qwen2.5-7B", "128Ki", kTight, {"gpus=4"}, true}};
    for (const auto& c : cases) {
        SCOPED_TRACE(std::string(c.model) + " at " + c.context + (c.plan == kTight ? "" : ", sparse"));
        const Scenario s = scenario_of(on_h200(c.model, c.context, c.plan), c.set);
        const Budget& budget = s.plan.budget;
        const auto room = [&](const Score& score) {  // bytes above the budgets, then the fullest tier
            double fullest = 0;
            const std::array<Bytes, kTiers> budgets{budget.device, budget.host, budget.disk};
            for (size_t t = 0; t < kTiers; ++t) {
                const double need = static_cast<double>(score.need_bytes[t]),
                             have = static_cast<double>(budgets[t].count());
                if (need > 0) fullest = std::max(fullest, have > 0 ? need / have : 1e300);
            }
            return std::make_pair(excess_of(score, budget), fullest);
        };
        Searcher full(s);
        const Result<Searcher::Ranking> all = full.rank(budget);
        ASSERT_TRUE(all) << all.error().text();
        const auto least =
            std::min_element(all->candidates.begin(), all->candidates.end(),
                             [&](const auto& a, const auto& b) { return room(a.score) < room(b.score); });
        SearchOptions by_score;
        by_score.exact = false;
        const Result<Found> found = Searcher(s).roomiest(budget, by_score);
        ASSERT_TRUE(found) << found.error().text();
        EXPECT_EQ(room(found->score), room(least->score));
        EXPECT_EQ(found->scored, all->scored);
        const auto same = std::find_if(all->candidates.begin(), all->candidates.end(),
                                       [&](const auto& a) { return a.decisions == found->plan.decisions; });
        ASSERT_NE(same, all->candidates.end());
        EXPECT_EQ(found->score.need_bytes, same->score.need_bytes);
        const Result<Found> exact = Searcher(s).roomiest(budget);
        ASSERT_TRUE(exact) << exact.error().text();
        EXPECT_EQ(exact->evaluation.fits(), c.fits);
    }
}

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
