#include "weights/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace headroom {
namespace {

Model shipped(const std::string& name) {
    return *read_model(name, HEADROOM_SOURCE_DIR);
}

// The weight of that name; fails the test if there is none.
WeightSpec find(const std::vector<WeightSpec>& weights, const std::string& name) {
    for (const WeightSpec& weight : weights)
        if (weight.name == name) return weight;
    ADD_FAILURE() << name << " is no weight";
    return {};
}

TEST(WeightNames, HaveAllParametersOfEachShippedModel) {
    int checked = 0;
    for (const std::string& name : shipped_models(HEADROOM_SOURCE_DIR)) {
        const Model model = shipped(name);
        const Result<std::vector<WeightSpec>> weights = weights_of(model);
        if (model.type == "deepseek_v3") {
            EXPECT_EQ(weights.error().found, "model type 'deepseek_v3'");
            continue;
        }
        ASSERT_TRUE(weights) << name;
        int64_t elements = 0;
        std::set<std::string> names;
        for (const WeightSpec& weight : *weights) {
            elements += elements_of(weight);
            EXPECT_TRUE(names.insert(weight.name).second) << weight.name;
        }
        EXPECT_EQ(elements, count_parameters(model).total()) << name;
        ++checked;
    }
    EXPECT_GE(checked, 18);
}

// Names and shapes as in the published model.safetensors.index.json and its files.
TEST(WeightNames, AreThePublishedOnes) {
    const std::vector<WeightSpec> qwen = *weights_of(shipped("Qwen2.5-7B"));
    EXPECT_EQ(qwen.size(), 339);
    EXPECT_EQ(qwen.front(), (WeightSpec{"model.embed_tokens.weight", {152064, 3584}, WeightRole::matrix}));
    EXPECT_EQ(qwen.back(), (WeightSpec{"lm_head.weight", {152064, 3584}, WeightRole::matrix}));
    EXPECT_EQ(find(qwen, "model.layers.27.self_attn.k_proj.weight").shape, (std::vector<int64_t>{512, 3584}));
    EXPECT_EQ(find(qwen, "model.layers.0.self_attn.q_proj.bias").role, WeightRole::bias);
    EXPECT_EQ(find(qwen, "model.layers.3.mlp.down_proj.weight").shape, (std::vector<int64_t>{3584, 18944}));
    EXPECT_EQ(find(qwen, "model.layers.0.post_attention_layernorm.weight").role, WeightRole::norm);
    EXPECT_EQ(find(qwen, "model.norm.weight").shape, (std::vector<int64_t>{3584}));

    const std::vector<WeightSpec> llama = *weights_of(shipped("Llama-3.2-1B"));
    EXPECT_EQ(llama.size(), 146);
    EXPECT_EQ(llama.back().name, "model.norm.weight");

    const std::vector<WeightSpec> qwen3 = *weights_of(shipped("Qwen3-8B"));
    EXPECT_EQ(find(qwen3, "model.layers.0.self_attn.q_norm.weight").shape, (std::vector<int64_t>{128}));

    const std::vector<WeightSpec> oss = *weights_of(shipped("gpt-oss-20b"));
    EXPECT_EQ(find(oss, "model.layers.0.self_attn.sinks").shape, (std::vector<int64_t>{64}));
    EXPECT_EQ(find(oss, "model.layers.0.mlp.experts.gate_up_proj").shape,
              (std::vector<int64_t>{32, 2880, 5760}));
    EXPECT_EQ(find(oss, "model.layers.0.mlp.router.bias").shape, (std::vector<int64_t>{32}));
}

TEST(WeightNames, OfALayerAreThoseOfTheWhole) {
    const Model model = shipped("gemma-3-27b");
    const std::vector<WeightSpec> all = *weights_of(model);
    const std::vector<WeightSpec> layer = *layer_weights_of(model, 1);
    EXPECT_EQ(layer.size(), 13);
    EXPECT_NE(std::search(all.begin(), all.end(), layer.begin(), layer.end()), all.end());
}

}  // namespace
}  // namespace headroom
