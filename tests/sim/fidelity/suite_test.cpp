#include "fidelity/suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "search/answer.h"

namespace headroom::fidelity {
namespace {

const std::string kRoot = HEADROOM_SOURCE_DIR;
const std::string kHead = "hardware = \"h200-sxm-pcie5\"\n";
const std::string kPlan = "[[plan]]\nname = \"a\"\nmodel = \"Qwen2.5-0.5B\"\n";

std::string error_of(const std::string& text) {
    const Result<Suite> s = parse_suite(text, "s.toml");
    return s ? "" : s.error().text();
}

TEST(Suite, ReadsPlansLaddersAndRankings) {
    const Result<Suite> s =
        parse_suite(kHead +
                        "title = \"T\"\nset = [\"plan.page=64\"]\nstart_seconds = 3.5\n"
                        "[selection]\nblock_reuse = 0.7\nsource = \"here\"\n" +
                        kPlan +
                        "set = [\"context=1Ki\"]\nsteps = 1\nseed = 7\nrepeat = true\n"
                        "selection = { popularity = 0.5, recency = -0.25, source = \"this model\" }\n"
                        "[[plan]]\nname = \"b\"\nscenario = \"tiny-cpu\"\n"
                        "[[ladder]]\nname = \"l\"\nmodel = \"Qwen2.5-3B\"\nrungs = [-0.01, 0, 1]\n"
                        "[[ranking]]\nname = \"r\"\nplans = [\"b\", \"a\"]\n",
                    "folder/s.toml");
    ASSERT_TRUE(s) << s.error().text();
    EXPECT_EQ(s->name, "s");
    EXPECT_EQ(s->title, "T");
    EXPECT_EQ(s->set, std::vector<std::string>{"plan.page=64"});
    EXPECT_EQ(s->start_seconds, 3.5);
    ASSERT_TRUE(s->selection);
    EXPECT_EQ(s->selection->block_reuse, 0.7);
    EXPECT_EQ(s->selection->chunk_reuse, SelectionModel().chunk_reuse);
    ASSERT_EQ(s->plans.size(), 2u);
    EXPECT_EQ(s->plans[0].question.model, "Qwen2.5-0.5B");
    EXPECT_EQ(s->plans[0].steps, 1);
    EXPECT_EQ(s->plans[0].seed, 7);
    EXPECT_TRUE(s->plans[0].repeat);
    const std::optional<SelectionModel>&own = s->selection_of(s->plans[0]),
          &shared = s->selection_of(s->plans[1]);
    ASSERT_TRUE(own && shared);
    EXPECT_EQ(own->popularity, 0.5);
    EXPECT_EQ(own->recency, -0.25);
    EXPECT_EQ(own->source, "this model");
    EXPECT_EQ(shared->source, "here");
    EXPECT_EQ(s->plans[1].steps, 2);
    EXPECT_EQ(s->plans[1].question.scenario, "tiny-cpu");
    ASSERT_EQ(s->ladders.size(), 1u);
    EXPECT_EQ(s->ladders[0].rungs, (std::vector<double>{-0.01, 0, 1}));
    ASSERT_EQ(s->rankings.size(), 1u);
    EXPECT_EQ(s->rankings[0].plans, (std::vector<std::string>{"b", "a"}));
}

TEST(Suite, NamesLineAndKeyOfWhatIsWrong) {
    const auto expect = [](const std::string& text, const std::string& where, const std::string& found) {
        const std::string error = error_of(text);
        EXPECT_NE(error.find(where), error.npos) << error;
        EXPECT_NE(error.find(found), error.npos) << error;
    };
    expect(kPlan, "hardware", "");
    expect(kHead, "s.toml", "no [[plan]]");
    expect(kHead + kPlan + "step = 1\n", "s.toml:5, key 'plan[0].step'", "");
    expect(kHead + kPlan + "steps = 0\n", "s.toml:5, key 'plan[0].steps'", "0");
    expect(kHead + kPlan + "seed = -1\n", "s.toml:5, key 'plan[0].seed'", "-1");
    expect(kHead + kPlan + "scenario = \"x\"\n", "key 'plan[0]'", "'scenario' and 'model'");
    expect(kHead + "[[plan]]\nname = \"a/b\"\nmodel = \"m\"\n", "s.toml:3, key 'plan[0].name'", "a/b");
    expect(kHead + kPlan + kPlan, "s.toml:6, key 'plan[1].name'", "a second time");
    const std::string other = half_of("a") == Half::fit ? "unseen" : "fit";
    expect(kHead + kPlan + "half = \"" + other + "\"\n", "s.toml:5, key 'plan[0].half'", other);
    expect(kHead + kPlan + "[[ladder]]\nname = \"l\"\nmodel = \"m\"\nrungs = [1, 0]\n",
           "s.toml:8, key 'ladder[0].rungs'", "ascend");
    expect(kHead + kPlan + "[[ranking]]\nname = \"r\"\nplans = [\"a\", \"aa\"]\n",
           "s.toml:7, key 'ranking[0].plans'", "'aa'");
    expect(kHead + "[selection]\nchunk_reuse = 2\nsource = \"x\"\n" + kPlan,
           "s.toml:3, key 'selection.chunk_reuse'", "2");
    expect(kHead + kPlan + "selection = { popularity = 3, source = \"x\" }\n",
           "key 'plan[0].selection.popularity'", "0 to 2");
    expect(kHead + kPlan + "selection = { recency = -2, source = \"x\" }\n",
           "key 'plan[0].selection.recency'", "-1 to 4");
}

// Known values: FNV-1a of "a" is af63dc4c8601ec8c, of "foobar" 85944171f73967e8; bit 32 of both words.
TEST(Suite, HalfIsTheBitOfTheHash) {
    EXPECT_EQ(half_of("a"), (0xaf63dc4c8601ec8cu >> 32 & 1) != 0 ? Half::unseen : Half::fit);
    EXPECT_EQ(half_of("foobar"), (0x85944171f73967e8u >> 32 & 1) != 0 ? Half::unseen : Half::fit);
    EXPECT_EQ(half_of("a"), Half::fit);
    EXPECT_EQ(half_of("foobar"), Half::unseen);
}

TEST(Suite, ErrorsOfAQuestionLeadWithItsPlan) {
    for (const char* wrong : {"plan.chunk=7", "plan.strategy=whole"}) {
        const Result<Suite> s =
            parse_suite(kHead + kPlan + "set = [\"" + std::string(wrong) + "\"]\n", "s.toml");
        ASSERT_TRUE(s);
        const SuitePlan& p = s->plans[0];
        const Result<Scenario> scenario = scenario_of(*s, p.question, p.name, p.place, kRoot);
        ASSERT_FALSE(scenario);
        const std::string start = std::string("s.toml:3, key 'plan[0].name': --set ") + wrong;
        EXPECT_TRUE(scenario.error().text().starts_with(start)) << scenario.error().text();
    }
}

class Shipped : public ::testing::TestWithParam<const char*> {};

// The file shows each plan's half, half of them at least are unseen, and every question has an answer that
// fits what it may use.
TEST_P(Shipped, ShowsHalvesAndCanBePlanned) {
    const std::string path = kRoot + "/scenarios/fidelity/" + GetParam() + ".toml";
    const Result<Suite> s = read_suite(path);
    ASSERT_TRUE(s) << s.error().text();
    const std::string text = read_file(path, kMiB).value();
    int64_t shown = 0;
    for (size_t at = text.find("half = \""); at != text.npos; at = text.find("half = \"", at + 1)) ++shown;
    EXPECT_EQ(shown, static_cast<int64_t>(s->plans.size()));
    for (const SuitePlan& p : s->plans) {
        const Result<Scenario> scenario = scenario_of(*s, p.question, p.name, p.place, kRoot);
        ASSERT_TRUE(scenario) << scenario.error().text();
        AnswerOptions options;
        options.gains = options.remedies = false;
        const Result<Answer> a = answer(*scenario, options);
        ASSERT_TRUE(a) << p.name << ": " << a.error().text();
        EXPECT_TRUE(a->fits()) << p.name;
    }
    // Short steps are repeated; of these the first alone takes minutes.
    const bool long_steps = GetParam() == std::string("h200-4m") || GetParam() == std::string("h200-256k");
    EXPECT_EQ(std::count_if(s->plans.begin(), s->plans.end(), [](const SuitePlan& p) { return p.repeat; }),
              long_steps ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(Suites, Shipped,
                         ::testing::Values("cpu", "h200", "h200-256k", "h200-4m", "h200-unlimited"));

// What the suite of the H200 has to span.
TEST(Suite, OfTheH200SpansWhatItClaims) {
    const Result<Suite> s = read_suite(kRoot + "/scenarios/fidelity/h200.toml");
    ASSERT_TRUE(s) << s.error().text();
    EXPECT_GE(s->plans.size(), 24u);
    EXPECT_GE(2 * std::count_if(s->plans.begin(), s->plans.end(),
                                [](const SuitePlan& p) { return p.half == Half::unseen; }),
              static_cast<int64_t>(s->plans.size()));
    std::set<std::string> models, outputs, strategies;
    std::set<int64_t> chunks, pages, blocks;
    int64_t dense_least = INT64_MAX, dense_most = 0, sparse_least = INT64_MAX, sparse_most = 0;
    bool lora = false, states_host = false, bf16_states = false, split = false, capped = false;
    for (const SuitePlan& p : s->plans) {
        const Result<Scenario> scenario = scenario_of(*s, p.question, p.name, p.place, kRoot);
        ASSERT_TRUE(scenario) << scenario.error().text();
        AnswerOptions options;
        options.gains = options.remedies = false;
        const Result<Answer> a = answer(*scenario, options);
        ASSERT_TRUE(a) << a.error().text();
        const Plan& plan = a->plan;
        const Decisions& d = plan.decisions;
        models.insert(plan.model.name);
        outputs.insert(std::string(headroom::name_of(d.attention_outputs)));
        strategies.insert(d.strategy);
        if (d.strategy == "chunked") chunks.insert(d.chunk.count());
        pages.insert(d.page.count());
        const int64_t context = plan.context.count();
        if (d.attention.sparse) {
            blocks.insert(d.attention.block);
            sparse_least = std::min(sparse_least, context), sparse_most = std::max(sparse_most, context);
        } else {
            dense_least = std::min(dense_least, context), dense_most = std::max(dense_most, context);
        }
        lora |= plan.recipe.lora_rank > 0;
        states_host |= d.states_home == Home::host;
        bf16_states |= plan.recipe.states == Dtype::bf16 && plan.model.name == "Qwen2.5-14B";
        const int64_t on_device = d.kv_residency.device_layers;
        split |= on_device > 0 && on_device < plan.model.layer_count();
        capped |= plan.budget.device < plan.hardware.device_memory;
    }
    for (const char* model : {"Qwen2.5-0.5B", "Qwen2.5-1.5B", "Qwen2.5-3B", "Qwen2.5-7B", "Qwen2.5-14B",
                              "Llama-3.2-1B", "Mistral-7B-v0.3"})
        EXPECT_TRUE(models.contains(model)) << model;
    EXPECT_EQ(outputs, (std::set<std::string>{"recompute", "chunk", "device", "host"}));
    EXPECT_TRUE(strategies.contains("whole-sequence"));
    EXPECT_LE(dense_least, 8192);
    EXPECT_GE(dense_most, 262144);
    EXPECT_LE(sparse_least, 8192);
    EXPECT_GE(sparse_most, 1048576);
    EXPECT_TRUE(lora && states_host && bf16_states && split && capped);
    EXPECT_EQ(*chunks.begin(), 1024);
    EXPECT_EQ(*chunks.rbegin(), 16384);
    EXPECT_EQ(*pages.begin(), 32);
    EXPECT_EQ(*pages.rbegin(), 256);
    EXPECT_EQ(*blocks.begin(), 128);
    EXPECT_FALSE(s->ladders.empty());
    ASSERT_FALSE(s->rankings.empty());
    EXPECT_EQ(s->rankings[0].plans.size(), 5u);
}

}  // namespace
}  // namespace headroom::fidelity
