// Decisions of a scenario: given back by --set, kept on disk, found again in errors.
#include <gtest/gtest.h>

#include <map>

#include "plan/names.h"
#include "plan/plan.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

Scenario good(const std::string& rest, const std::vector<std::string>& overrides = {}) {
    const fs::path source = HEADROOM_SOURCE_DIR;
    const auto s =
        parse_scenario("model = 'Qwen2.5-7B'\nhardware = 'h200-sxm-pcie5'\ncontext = '1Mi'\n" + rest,
                       "a.toml", source, source, overrides);
    EXPECT_TRUE(s) << s.error().text();
    return s.value_or(Scenario{});
}

// Every decision, fixed in the file, given back to the planner by itself.
TEST(Scenario, AutoIsLikeLeavingTheKeyOut) {
    const std::map<std::string, std::string> lines{
        {"strategy", "'layer-major'"},
        {"tensor_ranks", "2"},
        {"ring_ranks", "2"},
        {"attention", "{ budget = 32, block = 64 }"},
        {"chunk", "8192"},
        {"page", "256"},
        {"honour_windows", "false"},
        {"weights_dtype", "'fp32'"},
        {"kv_dtype", "'fp8'"},
        {"kv_gradients_dtype", "'fp32'"},
        {"segment", "16384"},
        {"deterministic", "true"},
        {"weights_home", "'host'"},
        {"gradients_home", "'host'"},
        {"states_home", "'ranks'"},
        {"kv", "'disk'"},
        {"kv_gradients", "'device'"},
        {"gradient_pages", "'all_at_once'"},
        {"attention_outputs", "'host'"},
        {"activations", "'checkpoint_device'"},
        {"prefetch", "0"},
        {"staging_slots", "4"},
        {"staging_slot", "'1GiB'"},
        {"page_copy", "'gather'"},
        {"page_cache", "'1GiB'"},
        {"wavefront", "2"},
        {"loss_tile", "0"},
        {"logits_fp32", "1"},
        {"mlp_tile", "4096"},
        {"fill_head", "true"},
        {"write_back_clean", "true"},
        {"load_gradients_forward", "true"},
    };
    const Scenario without = good("[plan]");
    for (const std::string& key : decision_keys()) {
        SCOPED_TRACE(key);
        ASSERT_TRUE(lines.contains(key));
        const std::string text = "gpus = 4\n[plan]\n" + key + " = " + lines.at(key);
        const Scenario fixed = good(text);
        EXPECT_EQ(fixed.fixed, std::set<std::string>{key});
        EXPECT_NE(fixed.plan.decisions, without.plan.decisions);
        const Scenario open = good(text, {"plan." + key + "=auto"});
        EXPECT_EQ(open.plan, without.plan);
        EXPECT_TRUE(open.fixed.empty() && open.places.empty() && open.all_on_disk.empty());
    }
}

TEST(Scenario, DiskMeansEveryChunkOfAnyCut) {
    const Scenario s = good("[plan]\nkv = 'disk'\nkv_gradients = { disk_chunks = 256 }");
    EXPECT_EQ(s.all_on_disk, std::set<std::string>{"kv"});
    Decisions d = s.plan.decisions;
    d.chunk = Tokens(2048);
    keep_on_disk(s, Tokens(s.plan.context.count() * 2), d);
    EXPECT_EQ(d.kv_residency, (Residency{0, 0, 1024}));
    EXPECT_EQ(d.kv_gradient_residency, (Residency{0, 0, 256}));  // a number is a number
}

TEST(Scenario, ErrorsAboutDecisionsFindTheirLines) {
    const Scenario s = good("[plan]\nchunk = 8192\nwavefront = 2", {"plan.page=256"});
    const auto at = [&](std::string where) {
        return with_places(Error{Fault::bad_input, std::move(where), "found key 'plan.wavefront' there", "x"},
                           s);
    };
    EXPECT_EQ(at("key 'plan.chunk'").where, s.places.at("plan.chunk"));
    EXPECT_NE(s.places.at("plan.chunk").find(", key 'plan.chunk'"), std::string::npos);
    EXPECT_EQ(at("").found, "found " + s.places.at("plan.wavefront") + " there");
    EXPECT_EQ(at("key 'plan.page'").where, "--set plan.page=256");
    EXPECT_EQ(at("key 'plan.segment'").where, "key 'plan.segment'");                  // not in the file
    EXPECT_EQ(at("b.toml:1, key 'plan.chunk'").where, "b.toml:1, key 'plan.chunk'");  // has its place
}

}  // namespace
}  // namespace headroom
