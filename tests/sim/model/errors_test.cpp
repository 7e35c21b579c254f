// Every bad config gives one Error that names its key and what is allowed.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "shipped.h"

namespace headroom::test {
namespace {

struct Bad {
    const char* model;
    const char* key;    // dotted, as in the message
    const char* value;  // JSON; empty: the key is taken out
    const char* says;   // part of the message
};

constexpr Bad kBad[] = {
    {"Qwen2.5-7B", "model_type", "", "model_type"},
    {"Qwen2.5-7B", "model_type", "\"qwen22\"", "nearest: 'qwen2'"},
    {"Qwen2.5-7B", "model_type", "\"bert\"", "'gpt_oss' or 'deepseek_v3'"},
    {"Qwen2.5-7B", "model_type", "7", "the number 7"},
    {"Qwen2.5-7B", "hidden_size", "", "hidden_size"},
    {"Qwen2.5-7B", "hidden_size", "0", "from 1 to 1,048,576"},
    {"Qwen2.5-7B", "hidden_size", "-3584", "the number -3584"},
    {"Qwen2.5-7B", "hidden_size", "3584.5", "the number 3584.5"},
    {"Qwen2.5-7B", "hidden_size", "1048577", "from 1 to 1,048,576"},
    {"Qwen2.5-7B", "hidden_size", "1e300", "from 1 to 1,048,576"},
    {"Qwen2.5-7B", "hidden_size", "99999999999999999999", "hidden_size"},
    {"Qwen2.5-7B", "hidden_size", "\"3584\"", "a string '3584'"},
    {"Qwen2.5-7B", "hidden_size", "[3584]", "a list of 1"},
    {"Qwen2.5-7B", "hidden_size", "null", "hidden_size"},
    {"Qwen2.5-7B", "num_hidden_layers", "4097", "from 1 to 4,096"},
    {"Qwen2.5-7B", "num_hidden_layers", "true", "true"},
    {"Qwen2.5-7B", "num_attention_heads", "0", "from 1"},
    {"Qwen2.5-7B", "num_attention_heads", "20", "20 heads for a hidden size of 3584"},
    {"Qwen2.5-7B", "num_key_value_heads", "5", "5 KV heads for 28 query heads"},
    {"Qwen2.5-7B", "num_key_value_heads", "56", "a divisor of num_attention_heads"},
    {"Qwen2.5-7B", "intermediate_size", "2000000", "from 1 to 1,048,576"},
    {"Qwen2.5-7B", "vocab_size", "16777217", "from 1 to 16,777,216"},
    {"Qwen2.5-7B", "vocab_size", "", "vocab_size"},
    {"Qwen2.5-7B", "max_position_embeddings", "-1", "from 1 to 1,073,741,824"},
    {"Qwen2.5-7B", "rms_norm_eps", "0", "a number above 0"},
    {"Qwen2.5-7B", "rms_norm_eps", "1e31", "at most 1e30"},
    {"Qwen2.5-7B", "rope_theta", "-1", "a number above 0"},
    {"Qwen2.5-7B", "rope_theta", "\"big\"", "a number above 0"},
    {"Qwen2.5-7B", "tie_word_embeddings", "1", "tie_word_embeddings"},
    {"Qwen2.5-7B", "use_sliding_window", "\"yes\"", "use_sliding_window"},
    {"Qwen2.5-7B", "sliding_window", "0", "from 1"},
    {"Qwen2.5-7B", "max_window_layers", "-1", "from 0 to 4,096"},
    {"Qwen2.5-7B", "hidden_act", "3", "hidden_act"},
    {"Qwen3-8B", "head_dim", "0", "from 1"},
    {"Qwen3-8B", "head_dim", "32769", "32 heads of 32,769"},
    {"Qwen3-8B", "attention_bias", "0", "attention_bias"},
    {"Llama-3.1-8B", "rope_scaling", "[8]", "a list of 1"},
    {"Llama-3.1-8B", "rope_scaling.factor", "0", "a number above 0"},
    {"Llama-3.1-8B", "rope_scaling.factor", "", "rope_scaling.factor"},
    {"Llama-3.1-8B", "rope_scaling.low_freq_factor", "4", "less than high_freq_factor, 4"},
    {"gpt-oss-20b", "rope_scaling.beta_fast", "-32", "a number above 0"},
    {"gpt-oss-20b", "rope_scaling.beta_slow", "33", "at most beta_fast, 32"},
    {"gpt-oss-20b", "rope_scaling.truncate", "0", "true or false"},
    {"gpt-oss-20b", "swiglu_limit", "0", "a number above 0"},
    {"gpt-oss-20b", "swiglu_limit", "\"7\"", "a number above 0"},
    {"DeepSeek-V3", "rope_scaling.mscale", "-1", "a number from 0 to 1e30"},
    {"DeepSeek-V3", "rope_scaling.mscale_all_dim", "[]", "a number from 0 to 1e30"},
    {"gemma-3-27b", "text_config.query_pre_attn_scalar", "0", "a number above 0"},
    {"Qwen3-30B-A3B", "norm_topk_prob", "1", "true or false"},
    {"Llama-3.1-8B", "rope_scaling.original_max_position_embeddings", "-8192", "from 1"},
    {"Mistral-7B-v0.3", "sliding_window", "1073741825", "from 1 to 1,073,741,824"},
    {"gpt-oss-20b", "layer_types", "[\"full_attention\"]", "a list of 24, one for each layer"},
    {"gpt-oss-20b", "layer_types", "\"full_attention\"", "layer_types"},
    {"gpt-oss-20b", "layer_types[3]", "\"linear_attention\"", "'full_attention' or 'sliding_attention'"},
    {"gpt-oss-20b", "layer_types[3]", "7", "layer_types[3]"},
    {"gpt-oss-20b", "num_local_experts", "4097", "from 1 to 4,096"},
    {"gpt-oss-20b", "num_experts_per_tok", "33", "from 1 to 32"},
    {"gemma-3-27b", "text_config", "3", "text_config"},
    {"gemma-3-27b", "text_config.hidden_size", "", "hidden_size"},
    {"gemma-3-27b", "text_config.hidden_size", "-1", "from 1"},
    {"Qwen3-30B-A3B", "num_experts", "", "num_experts"},
    {"Qwen3-30B-A3B", "moe_intermediate_size", "0", "from 1"},
    {"Qwen3-30B-A3B", "mlp_only_layers", "[48]", "a layer from 0 to 47"},
    {"Qwen3-30B-A3B", "decoder_sparse_step", "0", "from 1"},
    {"DeepSeek-V3", "kv_lora_rank", "", "kv_lora_rank"},
    {"DeepSeek-V3", "q_lora_rank", "0", "from 1"},
    {"DeepSeek-V3", "qk_nope_head_dim", "1000000", "at most 1,048,576 values"},
    {"DeepSeek-V3", "first_k_dense_replace", "-1", "from 0"},
    {"DeepSeek-V3", "num_experts_per_tok", "257", "from 1 to 256"},
};

// "a.b[3]" -> "/a/b/3".
nlohmann::json::json_pointer pointer(std::string key) {
    std::string path = "/";
    for (const char c : key) {
        if (c != ']') path += c == '.' || c == '[' ? '/' : c;
    }
    return nlohmann::json::json_pointer(path);
}

std::string text_of(const Bad& bad) {
    nlohmann::json config = config_of(bad.model);
    const auto at = pointer(bad.key);
    if (*bad.value == '\0') {
        config[at.parent_pointer()].erase(at.back());
        return config.dump();
    }
    // By text, as the value may be one that no parser keeps.
    config[at] = "<here>";
    std::string text = config.dump();
    const std::string mark = "\"<here>\"";
    return text.replace(text.find(mark), mark.size(), bad.value);
}

TEST(Errors, name_the_key_and_what_is_allowed) {
    for (const Bad& bad : kBad) {
        const std::string label = std::string(bad.model) + " " + bad.key + " = " + bad.value;
        const auto model = parse_model(text_of(bad), "c.json", "test");
        ASSERT_FALSE(model) << label;
        const Error& error = model.error();
        EXPECT_EQ(error.fault, Fault::bad_input) << label;
        EXPECT_EQ(error.where.rfind("c.json", 0), 0u) << label << ": " << error.text();
        EXPECT_NE(error.text().find(bad.says), std::string::npos) << label << ": " << error.text();
        EXPECT_EQ(error.text().find('\n'), std::string::npos) << label;
        if (*bad.value != '\0' && std::string(bad.value) != "99999999999999999999") {
            EXPECT_FALSE(error.allowed.empty()) << label;
        }
    }
}

TEST(Errors, a_window_in_layer_types_needs_a_size) {
    nlohmann::json config = config_of("Qwen2.5-0.5B");
    config["layer_types"] = std::vector<std::string>(24, "full_attention");
    EXPECT_TRUE(parse_model(config.dump(), "c.json", "test"));
    config["layer_types"][5] = "sliding_attention";
    const auto model = parse_model(config.dump(), "c.json", "test");
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().text().find("layer_types[5]"), std::string::npos) << model.error().text();
}

TEST(Errors, text_that_is_no_config) {
    for (const char* text : {"", "{", "[]", "null", "7", "{}", "{\"model_type\": null}", "NaN",
                             "{\"model_type\": \"qwen2\", \"hidden_size\": NaN}", "\xff\xfe"}) {
        const auto model = parse_model(text, "c.json", "test");
        ASSERT_FALSE(model) << text;
        EXPECT_FALSE(model.error().found.empty() && model.error().allowed.empty()) << text;
    }
}

// Whatever happens to the bytes of a published file, reading gives a model or an Error, and a model that was
// read can be counted.
RC_GTEST_PROP(Errors, damaged_files_are_read_or_refused, ()) {
    static const std::string texts[] = {config_of("Qwen3-30B-A3B").dump(), config_of("gpt-oss-20b").dump(),
                                        config_of("gemma-3-27b").dump(), config_of("DeepSeek-V3").dump()};
    std::string text = texts[*rc::gen::inRange<size_t>(0, 4)];
    const int changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i) {
        const auto at = *rc::gen::inRange<size_t>(0, text.size());
        text[at] = *rc::gen::element('0', '9', '-', '.', 'e', '"', ',', '{', ']', 'x', ' ');
    }
    const auto model = parse_model(text, "c.json", "test");
    if (!model) {
        RC_ASSERT(model.error().where.rfind("c.json", 0) == 0u);
        return;
    }
    RC_ASSERT(count_parameters(*model).total() > 0);
    RC_ASSERT(kv_bytes(*model, Dtype::fp32, Tokens(int64_t{1} << 30), false) > Bytes(0));
    RC_ASSERT(forward_flops(*model, Tokens(1)).total() > 0);
}

}  // namespace
}  // namespace headroom::test
