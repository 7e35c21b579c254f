// Which layers see a window only.
#include "shipped.h"

namespace headroom::test {
namespace {

std::string pattern(const Model& m) {
    std::string out;
    for (const Layer& layer : m.layers) out += layer.window > 0 ? 'w' : '.';
    return out;
}

TEST(Windows, gemma3_has_five_windowed_layers_to_one_full) {
    const Model m = shipped("gemma-3-27b");
    ASSERT_EQ(m.layer_count(), 62);
    for (int64_t i = 0; i < 62; ++i)
        EXPECT_EQ(m.layers[static_cast<size_t>(i)].window, i % 6 == 5 ? 0 : 1024) << i;
}

TEST(Windows, layer_types_go_before_the_pattern) {
    nlohmann::json config = config_of("gemma-3-27b");
    config["text_config"]["num_hidden_layers"] = 3;
    config["text_config"]["layer_types"] = {"full_attention", "sliding_attention", "full_attention"};
    EXPECT_EQ(pattern(parsed(config)), ".w.");
}

TEST(Windows, gpt_oss_alternates_as_listed_and_by_default) {
    EXPECT_EQ(pattern(shipped("gpt-oss-20b")), "w.w.w.w.w.w.w.w.w.w.w.w.");
    EXPECT_EQ(without("gpt-oss-20b", "layer_types").layers, shipped("gpt-oss-20b").layers);
    EXPECT_EQ(shipped("gpt-oss-20b").layers[0].window, 128);
}

TEST(Windows, qwen_has_them_only_where_they_are_switched_on) {
    EXPECT_EQ(pattern(shipped("Qwen2.5-0.5B")), std::string(24, '.'));
    const Model on = changed("Qwen2.5-0.5B", {{"use_sliding_window", true}, {"max_window_layers", 20}});
    EXPECT_EQ(pattern(on), std::string(20, '.') + "wwww");
    EXPECT_EQ(on.layers.back().window, 32768);
    // The mixture type knows no max_window_layers.
    const Model moe = changed("Qwen3-30B-A3B", {{"use_sliding_window", true}, {"sliding_window", 512}});
    EXPECT_EQ(pattern(moe), std::string(48, 'w'));
}

TEST(Windows, mistral_null_is_none_and_absent_is_the_default) {
    EXPECT_EQ(pattern(shipped("Mistral-7B-v0.3")), std::string(32, '.'));
    EXPECT_EQ(without("Mistral-7B-v0.3", "sliding_window").layers[31].window, 4096);
}

}  // namespace
}  // namespace headroom::test
