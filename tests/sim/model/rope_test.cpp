#include "shipped.h"

namespace headroom::test {
namespace {

TEST(Rope, as_published) {
    const Rope llama = shipped("Llama-3.1-8B").rope;
    EXPECT_EQ(llama.theta, 500000);
    EXPECT_EQ(llama.scaling, "llama3");
    EXPECT_EQ(llama.factor, 8);
    EXPECT_EQ(llama.low_freq_factor, 1);
    EXPECT_EQ(llama.high_freq_factor, 4);
    EXPECT_EQ(llama.original_context, 8192);
    const Rope deepseek = shipped("DeepSeek-V3").rope;  // under the old name, "type"
    EXPECT_EQ(deepseek.scaling, "yarn");
    EXPECT_EQ(deepseek.factor, 40);
    EXPECT_EQ(deepseek.original_context, 4096);
    Rope plain;
    plain.theta = 1e6;
    EXPECT_EQ(shipped("Qwen3-8B").rope, plain);
}

TEST(Rope, gemma3_rotates_windowed_layers_at_another_frequency) {
    const Rope rope = shipped("gemma-3-27b").rope;
    EXPECT_EQ(rope.theta, 1e6);
    EXPECT_EQ(rope.local_theta, 1e4);
    EXPECT_EQ(rope.scaling, "linear");
    EXPECT_EQ(rope.factor, 8);
}

// The form since transformers 5: theta inside, one table per type of layer where there are two.
TEST(Rope, parameters_read_like_scaling) {
    nlohmann::json qwen = config_of("Qwen3-8B");
    qwen.erase("rope_theta"), qwen.erase("rope_scaling");
    qwen["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 1e6}};
    EXPECT_EQ(parsed(qwen).rope, shipped("Qwen3-8B").rope);

    nlohmann::json gemma = config_of("gemma-3-27b");
    gemma["text_config"].erase("rope_scaling");
    gemma["text_config"]["rope_parameters"] = {
        {"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
    EXPECT_EQ(parsed(gemma).rope, shipped("gemma-3-27b").rope);
}

TEST(Rope, yarn_without_an_original_context_starts_from_the_published_one) {
    const Model m = changed("Qwen2.5-7B", {{"rope_scaling", {{"type", "yarn"}, {"factor", 4.0}}}});
    EXPECT_EQ(m.rope.original_context, 131072);
}

}  // namespace
}  // namespace headroom::test
