#include "strategy/strategies.h"

#include <functional>
#include <set>

#include "sim/strategy/draw_plan.h"

namespace headroom::test {
namespace {

TEST(Strategies, EachHasANameASummaryAndIsFound) {
    std::set<std::string_view> names;
    for (const Strategy* s : strategies()) {
        EXPECT_TRUE(names.insert(s->name()).second) << s->name();
        EXPECT_FALSE(s->summary().empty());
        EXPECT_EQ(find_strategy(s->name()), s);
    }
    EXPECT_EQ(names, (std::set<std::string_view>{"chunked", "whole-sequence", "layer-major", "ring",
                                                 "tensor-parallel"}));
    EXPECT_EQ(find_strategy("zigzag"), nullptr);
}

TEST(Strategies, AnUnknownNameGivesTheNearest) {
    Plan plan = tiny_plan();
    plan.decisions.strategy = "chunkd";
    const Result<Program> result = lower(plan);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().fault, Fault::bad_input);
    EXPECT_NE(result.error().where.find("plan.strategy"), std::string::npos);
    EXPECT_NE(result.error().found.find("'chunkd' is no strategy (did you mean 'chunked'?)"),
              std::string::npos);
    EXPECT_NE(result.error().allowed.find("'layer-major'"), std::string::npos);
}

// Which decision stands against a strategy, by its key.
struct Refusal {
    std::string strategy, key;
    std::function<void(Plan&)> change;
};

Plan accepted(const std::string& strategy) {
    Plan p = tiny_plan(4, 32, 32);
    Decisions& d = p.decisions;
    d.strategy = strategy;
    if (strategy == "whole-sequence" || strategy == "ring") d.chunk = p.context;
    if (strategy == "ring") p.gpus = d.ring_ranks = 2;
    if (strategy == "tensor-parallel") p.gpus = d.tensor_ranks = 2;
    if (strategy == "layer-major") d.activations = Activations::checkpoint_device;
    return p;
}

TEST(Strategies, RefusalsNameTheKey) {
    const auto sparse = [](Plan& p) { p.decisions.attention.sparse = true; };
    const auto tensor = [](Plan& p) { p.gpus = p.decisions.tensor_ranks = 2; };
    const auto ring = [](Plan& p) { p.gpus = p.decisions.ring_ranks = 2; };
    const auto sharded = [](Plan& p) { p.decisions.states_home = Home::ranks; };
    const auto host_outputs = [](Plan& p) { p.decisions.attention_outputs = AttentionOutputs::host; };
    const auto short_chunk = [](Plan& p) { p.decisions.chunk = Tokens(32); };
    const auto wavefront = [](Plan& p) { p.decisions.wavefront = 2; };
    const std::vector<Refusal> refusals{
        {"chunked", "plan.tensor_ranks", tensor},
        {"chunked", "plan.ring_ranks", ring},
        {"chunked", "plan.states_home", sharded},
        {"chunked", "plan.wavefront",
         [](Plan& p) { p.decisions.wavefront = 2, p.decisions.fill_head = true; }},
        {"tensor-parallel", "plan.tensor_ranks", [](Plan& p) { p.gpus = p.decisions.tensor_ranks = 1; }},
        {"tensor-parallel", "plan.states_home", sharded},
        {"whole-sequence", "plan.chunk", short_chunk},
        {"whole-sequence", "plan.attention", sparse},
        {"whole-sequence", "plan.attention_outputs", host_outputs},
        {"whole-sequence", "plan.tensor_ranks", tensor},
        {"ring", "plan.ring_ranks", [](Plan& p) { p.gpus = p.decisions.ring_ranks = 1; }},
        {"ring", "plan.chunk", short_chunk},
        {"ring", "plan.attention", sparse},
        {"ring", "plan.gradients_home", [](Plan& p) { p.decisions.gradients_home = Home::host; }},
        {"ring", "plan.weights_home",
         [](Plan& p) { p.decisions.weights_home = Home::host, p.decisions.states_home = Home::ranks; }},
        {"layer-major", "plan.tensor_ranks", tensor},
        {"layer-major", "plan.attention", sparse},
        {"layer-major", "plan.activations", [](Plan& p) { p.decisions.activations = Activations::keep; }},
        {"layer-major", "plan.attention_outputs", host_outputs},
        {"layer-major", "plan.kv", [](Plan& p) { p.decisions.kv_residency.device_layers = 1; }},
        {"layer-major", "plan.gradient_pages",
         [](Plan& p) { p.decisions.gradient_pages = GradientPages::all_at_once; }},
        {"layer-major", "plan.wavefront", wavefront},
    };
    for (const Refusal& r : refusals) {
        Plan plan = accepted(r.strategy);
        const Result<Program> before = lower(plan);
        ASSERT_TRUE(before) << r.strategy << ": " << before.error().text();
        r.change(plan);
        const Result<Program> result = lower(plan);
        ASSERT_FALSE(result) << r.strategy << " with another " << r.key;
        EXPECT_NE(result.error().where.find("'" + r.key + "'"), std::string::npos) << result.error().text();
        EXPECT_FALSE(result.error().allowed.empty());
    }
}

TEST(Strategies, AStepOfTooManyOpsIsAnError) {
    Plan plan = tiny_plan();
    plan.context = Tokens(int64_t{1} << 26);
    ASSERT_TRUE(check_plan(plan, ""));
    Result<Program> result = lower(plan);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().text().find("plan.chunk"), std::string::npos) << result.error().text();
    // Few chunks, but pieces of one page each.
    plan.context = Tokens(int64_t{1} << 22);
    plan.decisions.chunk = Tokens(4096);
    plan.decisions.staging_slot = Bytes(1024);
    ASSERT_TRUE(check_plan(plan, ""));
    result = lower(plan);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().text().find("plan.staging_slot"), std::string::npos) << result.error().text();
    plan.decisions.attention.sparse = true;
    plan.decisions.attention.block = 4096;
    EXPECT_TRUE(lower(plan));
    // 4096 tiles of each of 1024 chunks and 3 layers.
    plan.decisions.mlp_tile = Tokens(1);
    ASSERT_TRUE(check_plan(plan, ""));
    result = lower(plan);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().text().find("plan.mlp_tile"), std::string::npos) << result.error().text();
}

Scenario scenario(int64_t gpus) {
    Scenario s;
    s.plan = tiny_plan(40, 4096, 4096);
    s.plan.decisions.page = Tokens(128);
    s.plan.decisions.segment = Tokens(8192);
    s.plan.decisions.staging_slot = Bytes(kMiB);
    s.gpus = gpus;
    return s;
}

// What the file fixes stays; what changes the trained result is not varied; some candidate passes check().
TEST(Strategies, CandidatesKeepWhatIsFixed) {
    for (const Strategy* strategy : strategies()) {
        Scenario s = scenario(2);
        s.fixed = {"prefetch", "staging_slots", "activations", "states_home"};
        s.plan.decisions.staging_slots = 4;
        s.plan.decisions.prefetch = 3;
        s.plan.decisions.activations = Activations::checkpoint_host;
        s.plan.decisions.states_home = Home::host;
        int64_t seen = 0, usable = 0;
        strategy->candidates(s, [&](const Decisions& d) {
            ++seen;
            EXPECT_EQ(d.strategy, strategy->name());
            EXPECT_EQ(d.prefetch, 3);
            EXPECT_EQ(d.staging_slots, 4);
            EXPECT_EQ(d.activations, Activations::checkpoint_host);
            EXPECT_EQ(d.states_home, Home::host);
            EXPECT_EQ(d.attention, s.plan.decisions.attention);
            EXPECT_EQ(d.page, s.plan.decisions.page);
            EXPECT_EQ(d.kv, s.plan.decisions.kv);
            Plan plan = s.plan;
            plan.decisions = d;
            plan.gpus = d.tensor_ranks * d.ring_ranks;
            if (check_plan(plan, "") && strategy->check(plan)) ++usable;
        });
        EXPECT_GT(seen, 0) << strategy->name();
        EXPECT_GT(usable, 0) << strategy->name();
    }
}

// kv = "disk" is every chunk, however large the candidate's chunks are.
TEST(Strategies, CandidatesKeepAllOfItOnDisk) {
    Scenario s = scenario(1);
    s.fixed = {"kv"};
    s.all_on_disk = {"kv"};
    s.plan.decisions.kv_residency = Residency{0, 0, s.plan.chunks()};
    std::set<int64_t> sizes;
    chunked().candidates(s, [&](const Decisions& d) {
        Plan plan = s.plan;
        plan.decisions = d;
        sizes.insert(d.chunk.count());
        EXPECT_EQ(d.kv_residency, (Residency{0, 0, plan.chunks()}));
        const Result<void> ok = check_plan(plan, "");
        EXPECT_TRUE(ok) << ok.error().text();
    });
    EXPECT_GT(sizes.size(), 1u);
}

TEST(Strategies, SeveralGpusAreNotOfferedWhereThereIsOne) {
    for (const Strategy* strategy : {&ring_attention(), &tensor_parallel()}) {
        strategy->candidates(scenario(1), [](const Decisions&) { FAIL(); });
    }
}

}  // namespace
}  // namespace headroom::test
