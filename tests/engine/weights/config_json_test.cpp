#include "weights/config_json.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace headroom {
namespace {

const std::filesystem::path kData = HEADROOM_SOURCE_DIR;

TEST(ConfigJson, ShippedModelsComeBack) {
    int written = 0;
    for (const std::string& name : shipped_models(kData)) {
        const Result<Model> model = read_model(name, kData);
        ASSERT_TRUE(model) << model.error().text();
        const Result<std::string> text = config_json(*model, Dtype::bf16);
        const bool known = model->type == "llama" || model->type == "mistral" || model->type == "qwen2" ||
                           model->type == "qwen3" || model->type == "gemma3_text";
        ASSERT_EQ(text.has_value(), known) << name;
        if (!text) continue;
        ++written;
        const Result<Model> again = parse_model(*text, "again", name);
        ASSERT_TRUE(again) << again.error().text();
        EXPECT_EQ(*again, *model) << *text;
        EXPECT_NE(text->find("\"torch_dtype\": \"bfloat16\""), std::string::npos);
    }
    EXPECT_GE(written, 10);
}

TEST(ConfigJson, ScalingsAndWindowsComeBack) {
    Model m = *read_model("Qwen2.5-0.5B", kData);
    m.rope.scaling = "yarn";
    m.rope.factor = 4;
    m.rope.original_context = 32768;
    m.layers[3].window = m.layers[7].window = 512;
    EXPECT_EQ(*parse_model(*config_json(m, Dtype::fp32), "", m.name), m);
    m.rope = {.theta = 5e5, .scaling = "linear", .factor = 2};
    EXPECT_EQ(*parse_model(*config_json(m, Dtype::fp32), "", m.name), m);
}

TEST(ConfigJson, OfGemmaComesBack) {
    int written = 0;
    for (const std::string& name : shipped_models(kData)) {
        Model m = *read_model(name, kData);
        if (!m.type.starts_with("gemma3")) continue;
        m.type = "gemma3_text";  // the language model of one that sees
        m.query_scalar = 200;
        m.rope.local_theta = 12345;
        m.layers[1].window = m.layers[1].window > 0 ? 0 : m.layers[0].window;
        const Result<std::string> text = config_json(m, Dtype::bf16);
        ASSERT_TRUE(text) << text.error().text();
        EXPECT_EQ(*parse_model(*text, "", m.name), m) << *text;
        ++written;
    }
    EXPECT_GE(written, 1);
}

TEST(ConfigJson, WhatTheFamilyCannotSayIsAnError) {
    Model m = *read_model("Llama-3.1-8B", kData);
    m.layers[2].window = 128;
    EXPECT_EQ(
        config_json(m, Dtype::bf16).error().text(),
        "Llama-3.1-8B: a model that the config of 'llama' cannot say; allowed: what transformers has in "
        "this family");
    m.type = "gemma3";
    EXPECT_EQ(config_json(m, Dtype::bf16).error().found, "model type 'gemma3'");
}

}  // namespace
}  // namespace headroom
