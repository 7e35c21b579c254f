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
    EXPECT_EQ(deepseek.mscale, 1);
    EXPECT_EQ(deepseek.mscale_all_dim, 1);
    EXPECT_TRUE(deepseek.truncate);
    const Rope gpt_oss = shipped("gpt-oss-20b").rope;
    EXPECT_EQ(gpt_oss.theta, 150000);
    EXPECT_EQ(gpt_oss.scaling, "yarn");
    EXPECT_EQ(gpt_oss.factor, 32);
    EXPECT_EQ(gpt_oss.beta_fast, 32);
    EXPECT_EQ(gpt_oss.beta_slow, 1);
    EXPECT_FALSE(gpt_oss.truncate);
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

// Values of transformers' _compute_yarn_parameters.
TEST(Rope, yarn_scales_cosines) {
    EXPECT_EQ(attention_factor(shipped("Llama-3.1-8B").rope), 1);
    EXPECT_NEAR(attention_factor(shipped("gpt-oss-20b").rope), 1.3465735902799727, 1e-15);
    EXPECT_EQ(attention_factor(shipped("DeepSeek-V3").rope), 1);  // mscale over mscale_all_dim
    Rope rope{.scaling = "yarn", .factor = 40, .mscale = 0.707, .mscale_all_dim = 1};
    EXPECT_NEAR(attention_factor(rope), 0.9210423553163399, 1e-15);
    rope.mscale_all_dim = 0;
    EXPECT_NEAR(attention_factor(rope), 1.3688879454113936, 1e-15);
    rope.factor = 1;
    EXPECT_EQ(attention_factor(rope), 1);
    rope.attention_factor = 0.5;
    EXPECT_EQ(attention_factor(rope), 0.5);
}

TEST(Rope, yarn_reads_every_key) {
    const Model m = changed("Qwen2.5-7B", {{"rope_scaling",
                                            {{"rope_type", "yarn"},
                                             {"original_max_position_embeddings", 32768},
                                             {"beta_fast", 16},
                                             {"beta_slow", 2},
                                             {"mscale", 0},
                                             {"mscale_all_dim", nullptr},
                                             {"attention_factor", 1.25},
                                             {"truncate", false}}}});
    EXPECT_EQ(m.rope.factor, 4);  // absent: 131072 of max_position_embeddings over the original context
    EXPECT_EQ(m.rope.beta_fast, 16);
    EXPECT_EQ(m.rope.beta_slow, 2);
    EXPECT_EQ(m.rope.mscale, 0);
    EXPECT_EQ(m.rope.mscale_all_dim, 0);
    EXPECT_EQ(m.rope.attention_factor, 1.25);
    EXPECT_FALSE(m.rope.truncate);
}

TEST(Rope, longrope_is_not_planned) {
    const Model m = changed("Llama-3.1-8B", {{"rope_scaling", {{"rope_type", "longrope"}, {"factor", 4.0}}}});
    EXPECT_NE(m.not_trainable.find("longrope"), std::string::npos);
}

TEST(Rope, yarn_without_an_original_context_starts_from_the_published_one) {
    const Model m = changed("Qwen2.5-7B", {{"rope_scaling", {{"type", "yarn"}, {"factor", 4.0}}}});
    EXPECT_EQ(m.rope.original_context, 131072);
}

}  // namespace
}  // namespace headroom::test
