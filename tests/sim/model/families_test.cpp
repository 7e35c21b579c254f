// What each model type reads, and what it assumes where a key is absent.
#include "shipped.h"

namespace headroom::test {
namespace {

TEST(Families, qwen2) {
    const Model m = shipped("Qwen2.5-7B");
    EXPECT_EQ(m.name, "Qwen2.5-7B");
    EXPECT_EQ(m.type, "qwen2");
    EXPECT_EQ(m.layer_count(), 28);
    EXPECT_EQ(m.hidden, 3584);
    EXPECT_EQ(m.heads, 28);
    EXPECT_EQ(m.kv_heads, 4);
    EXPECT_EQ(m.head_dim, 128);
    EXPECT_EQ(m.intermediate, 18944);
    EXPECT_EQ(m.vocabulary, 152064);
    EXPECT_EQ(m.max_context, 131072);
    EXPECT_TRUE(m.qkv_bias);
    EXPECT_FALSE(m.output_bias || m.qk_norm || m.tied_embeddings);
    EXPECT_EQ(m.not_trainable, "");
    EXPECT_EQ(m.norm_epsilon, 1e-6);
    EXPECT_EQ(without("Qwen2.5-7B", "rms_norm_eps").norm_epsilon, 1e-6);
    EXPECT_EQ(m.rope.theta, 1e6);
    EXPECT_EQ(without("Qwen2.5-7B", "rope_theta").rope.theta, 1e4);
    EXPECT_EQ(m.query_scalar, 0);
    EXPECT_EQ(m.activation_limit, 0);
}

TEST(Families, llama_has_as_many_kv_heads_as_heads_by_default) {
    EXPECT_EQ(without("Llama-3.1-8B", "num_key_value_heads").kv_heads, 32);
    EXPECT_EQ(changed("Llama-3.1-8B", {{"num_key_value_heads", nullptr}}).kv_heads, 32);
    const Model biased = changed("Llama-3.1-8B", {{"attention_bias", true}, {"mlp_bias", true}});
    EXPECT_TRUE(biased.qkv_bias && biased.output_bias && biased.mlp_bias);
    EXPECT_EQ(count_parameters(biased).total() - count_parameters(shipped("Llama-3.1-8B")).total(),
              32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096));
}

TEST(Families, defaults_differ_from_type_to_type) {
    EXPECT_EQ(without("Mistral-7B-v0.3", "num_key_value_heads").kv_heads, 8);
    EXPECT_EQ(changed("Mistral-7B-v0.3", {{"num_key_value_heads", nullptr}}).kv_heads, 32);
    EXPECT_EQ(without("Qwen3-8B", "head_dim").head_dim, 128);
    EXPECT_EQ(without("Qwen3-30B-A3B", "head_dim").head_dim, 64);  // hidden / heads
    EXPECT_EQ(without("gpt-oss-20b", "rms_norm_eps").norm_epsilon, 1e-5);
    EXPECT_EQ(without("gpt-oss-20b", "rope_theta").rope.theta, 150000);
    EXPECT_EQ(without("Llama-3.1-8B", "max_position_embeddings").max_context, 2048);
    EXPECT_EQ(without("Qwen2.5-0.5B", "tie_word_embeddings").tied_embeddings, false);
}

TEST(Families, qwen3_moe_keeps_the_dense_layers_that_it_names) {
    const Model all = shipped("Qwen3-30B-A3B");
    EXPECT_EQ(all.intermediate, 0);
    EXPECT_EQ(all.experts, (Experts{.count = 128, .per_token = 8, .intermediate = 768, .normalized = true}));
    EXPECT_FALSE(without("Qwen3-30B-A3B", "norm_topk_prob").experts.normalized);
    const Model some = changed("Qwen3-30B-A3B", {{"mlp_only_layers", {0, 47}}, {"decoder_sparse_step", 2}});
    EXPECT_EQ(some.intermediate, 6144);
    for (size_t i = 0; i < 48; ++i) EXPECT_EQ(some.layers[i].mixture, i % 2 == 1 && i != 47) << i;
    nlohmann::json renamed = config_of("Qwen3-30B-A3B");
    renamed["num_local_experts"] = renamed["num_experts"];
    renamed.erase("num_experts");
    EXPECT_EQ(parsed(renamed).experts, all.experts);
}

TEST(Families, gemma3_reads_through_text_config) {
    const Model m = shipped("gemma-3-27b");
    EXPECT_EQ(m.type, "gemma3");
    EXPECT_EQ(m.vocabulary, 262208);  // the published file leaves it out
    EXPECT_EQ(m.norms_per_layer, 4);
    EXPECT_EQ(m.activation, "gelu_pytorch_tanh");
    EXPECT_TRUE(m.tied_embeddings && m.qk_norm);
    EXPECT_EQ(m.query_scalar, 168);  // not its head size, 128
    const Model text = parsed(config_of("gemma-3-27b")["text_config"]);
    EXPECT_EQ(text.type, "gemma3_text");
    EXPECT_EQ(count_parameters(text).total(), count_parameters(m).total());
}

// google/gemma-3-4b-it states these six keys and nothing else.
TEST(Families, gemma3_4b_is_published_with_its_heads_left_out) {
    const Model m = parsed({{"model_type", "gemma3"},
                            {"text_config",
                             {{"hidden_size", 2560},
                              {"intermediate_size", 10240},
                              {"model_type", "gemma3_text"},
                              {"num_hidden_layers", 34},
                              {"rope_scaling", {{"factor", 8.0}, {"rope_type", "linear"}}},
                              {"sliding_window", 1024}}}});
    EXPECT_EQ(m.heads, 8);
    EXPECT_EQ(m.kv_heads, 4);
    EXPECT_EQ(m.head_dim, 256);
    EXPECT_EQ(m.query_scalar, 256);
    EXPECT_EQ(count_parameters(m).total(), 3'880'263'168);
}

TEST(Families, gpt_oss) {
    const Model m = shipped("gpt-oss-120b");
    EXPECT_TRUE(m.qkv_bias && m.output_bias && m.attention_sinks);
    EXPECT_EQ(m.experts, (Experts{.count = 128,
                                  .per_token = 4,
                                  .intermediate = 2880,
                                  .router_bias = true,
                                  .expert_bias = true,
                                  .normalized = true}));
    EXPECT_EQ(m.activation_limit, 7);
    EXPECT_EQ(without("gpt-oss-20b", "swiglu_limit").activation_limit, 7);
    EXPECT_EQ(changed("gpt-oss-20b", {{"swiglu_limit", 5.5}}).activation_limit, 5.5);
    EXPECT_EQ(m.intermediate, 0);
    EXPECT_EQ(m.not_trainable, "");
}

TEST(Families, deepseek_v3_is_counted_but_not_trained) {
    const Model m = shipped("DeepSeek-R1");
    EXPECT_EQ(m.not_trainable.rfind("deepseek_v3 (multi-head latent attention)", 0), 0u);
    EXPECT_EQ(m.latent, (LatentAttention{
                            .q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .v_dim = 128}));
    EXPECT_EQ(m.q_size(), 128 * 192);
    EXPECT_TRUE(m.experts.normalized);
    EXPECT_TRUE(without("DeepSeek-R1", "norm_topk_prob").experts.normalized);
    EXPECT_FALSE(m.layers[2].mixture);
    EXPECT_TRUE(m.layers[3].mixture);
    // Queries without a rank: one matrix instead of two and a norm.
    const Model direct = changed("DeepSeek-R1", {{"q_lora_rank", nullptr}});
    EXPECT_EQ(count_parameters(direct).attention - count_parameters(m).attention,
              61 * (int64_t{7168} * 24576 - (int64_t{7168} * 1536 + 1536 + int64_t{1536} * 24576)));
}

TEST(Families, what_no_plan_knows_is_named) {
    const auto why = [](const nlohmann::json& changes) { return changed("Qwen3-8B", changes).not_trainable; };
    EXPECT_EQ(why(nlohmann::json::object()), "");
    EXPECT_NE(why({{"final_logit_softcapping", 30.0}}).find("final_logit_softcapping"), std::string::npos);
    EXPECT_EQ(why({{"final_logit_softcapping", nullptr}}), "");
    EXPECT_NE(why({{"use_bidirectional_attention", true}}).find("bidirectional"), std::string::npos);
    EXPECT_EQ(why({{"use_bidirectional_attention", false}}), "");
    EXPECT_NE(why({{"hidden_act", "relu2"}}).find("relu2"), std::string::npos);
    EXPECT_NE(why({{"rope_scaling", {{"type", "mrope"}}}}).find("mrope"), std::string::npos);
}

}  // namespace
}  // namespace headroom::test
