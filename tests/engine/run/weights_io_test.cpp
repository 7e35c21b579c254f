#include "run/weights_io.h"

#include <cstring>

#include "decoder/parameters.h"
#include "engine/run/plan_files.h"
#include "run/initial.h"
#include "weights/safetensors_writer.h"

namespace headroom::engine::test {
namespace {

class WeightsIo : public TrainingFolder {
protected:
    // A file of the model's weights in `dtype`: each tensor filled with its index, but for what `change`
    // does.
    template <class Change>
    void write(Dtype dtype, Change change) const {
        std::vector<TensorSpec> tensors;
        for (const Parameter& p : parameter_list(plan.model))
            tensors.push_back({p.weight.name, dtype, p.weight.shape});
        change(tensors);
        Result<SafetensorsWriter> writer = SafetensorsWriter::open(at("model.safetensors"), tensors, {});
        ASSERT_TRUE(writer) << writer.error().text();
        for (size_t i = 0; i < tensors.size(); ++i) {
            const at::Tensor values =
                at::full(tensors[i].shape, static_cast<double>(i) + 1.0 / 1024, scalar(tensors[i].dtype));
            ASSERT_TRUE(writer->append({static_cast<const std::byte*>(values.data_ptr()), values.nbytes()}));
        }
        ASSERT_TRUE(writer->finish());
    }
    static at::ScalarType scalar(Dtype dtype) {
        return dtype == Dtype::fp64   ? at::kDouble
               : dtype == Dtype::fp32 ? at::kFloat
               : dtype == Dtype::fp16 ? at::kHalf
               : dtype == Dtype::bf16 ? at::kBFloat16
                                      : at::kChar;
    }
    std::string check() const {
        const Result<WeightFiles> files = WeightFiles::open(folder_);
        if (!files) return files.error().text();
        const Result<void> done = check_weights(plan.model, *files);
        return done ? "" : done.error().text();
    }
    Plan plan = training_plan();
};

TEST_F(WeightsIo, EveryFormatIsReadAndRoundedToThatOfThePlan) {
    const int64_t count = count_parameters(plan.model).total();
    for (const Dtype dtype : {Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
        write(dtype, [](auto&) {});
        ASSERT_EQ(check(), "");
        at::Tensor weights = at::full({count}, -1, at::kBFloat16), master = at::full({count}, -1, at::kFloat);
        ASSERT_TRUE(load_weights(plan.model, *WeightFiles::open(folder_), weights, master));
        double expected = 0;
        for (const Parameter& p : parameter_list(plan.model)) {
            const at::Tensor stored = at::full({}, expected + 1.0 / 1024, scalar(dtype));
            const auto all_are = [&](const at::Tensor& flat) {
                const at::Tensor part = flat.narrow(0, p.offset, p.elements());
                return part.eq(stored.to(flat.scalar_type())).all().item<bool>();
            };
            EXPECT_TRUE(all_are(weights)) << p.weight.name;
            EXPECT_TRUE(all_are(master)) << p.weight.name;
            expected += 1;
        }
    }
}

TEST_F(WeightsIo, WhatDoesNotMatchIsNamed) {
    const std::string file = at("model.safetensors").string();
    write(Dtype::bf16, [](auto& t) { t[5].name += "x"; });
    EXPECT_NE(check().find("holds no tensor 'model.layers.0."), std::string::npos) << check();
    write(Dtype::bf16, [](auto& t) { std::swap(t[0].shape[0], t[0].shape[1]); });
    EXPECT_EQ(check(), file +
                           ", tensor 'model.embed_tokens.weight': shape [64, 160]; allowed: [160, 64], as "
                           "the model's config says");
    write(Dtype::bf16, [](auto& t) { t[0].dtype = Dtype::int8; });
    EXPECT_EQ(check(), file + ", tensor 'model.embed_tokens.weight': dtype I8; allowed: F64, F32, F16, BF16");
    write(Dtype::bf16, [](auto& t) { t.push_back({"model.layers.0.mlp.gate.weight", Dtype::bf16, {1}}); });
    EXPECT_EQ(check(), folder_.string() +
                           ": holds a tensor 'model.layers.0.mlp.gate.weight'; allowed: the "
                           "weights of tiny (qwen2), which has none of that name");
}

TEST_F(WeightsIo, OldBuffersAndATiedHeadApartAreIgnored) {
    plan.model.tied_embeddings = true;
    write(Dtype::fp32, [](auto& t) {
        t.push_back({"lm_head.weight", Dtype::fp32, {160, 64}});
        t.push_back({"model.layers.1.self_attn.rotary_emb.inv_freq", Dtype::fp32, {8}});
    });
    EXPECT_EQ(check(), "");
}

TEST_F(WeightsIo, WhatIsSavedReadsBackBitForBit) {
    plan.decisions.weights = Dtype::bf16;
    const int64_t count = count_parameters(plan.model).total();
    at::Tensor weights = at::zeros({count}, at::kBFloat16), again = at::zeros_like(weights);
    ASSERT_TRUE(fill_initial_weights(plan, 5, weights));
    const Result<bool> saved = save_weights(plan, weights, at("a/b"));
    ASSERT_TRUE(saved) << saved.error().text();
    EXPECT_TRUE(*saved);
    const Result<WeightFiles> files = WeightFiles::open(at("a/b"));
    ASSERT_TRUE(files) << files.error().text();
    ASSERT_TRUE(check_weights(plan.model, *files));
    ASSERT_TRUE(load_weights(plan.model, *files, again));
    EXPECT_TRUE(at::equal(weights, again));
    EXPECT_EQ(*parse_model(bytes("a/b/config.json"), "", plan.model.name), plan.model);
}

TEST_F(WeightsIo, AdaptersAreSavedAsPeftHasThem) {
    plan.recipe.lora_rank = 4;
    plan.recipe.lora_alpha = 16;
    plan.recipe.lora_targets = {"v", "down"};
    const int64_t count = ParameterUnits(plan).adapters;
    const at::Tensor adapters = at::arange(count, at::kFloat);
    ASSERT_TRUE(save_adapters(plan, adapters, at("a")));
    const auto config = nlohmann::json::parse(bytes("a/adapter_config.json"));
    EXPECT_EQ(config["peft_type"], "LORA");
    EXPECT_EQ(config["r"], 4);
    EXPECT_EQ(config["lora_alpha"], 16);
    EXPECT_EQ(config["target_modules"], nlohmann::json({"v_proj", "down_proj"}));
    const Result<WeightFiles> files = WeightFiles::open(at("a/adapter_model.safetensors"));
    ASSERT_TRUE(files) << files.error().text();
    EXPECT_EQ(files->names().size(), 2u * 2 * 3);
    const std::string module = "base_model.model.model.layers.0.self_attn.v_proj.lora_";
    const Result<StoredTensor> a = files->need({module + "A.weight", {4, 64}}),
                               b = files->need({module + "B.weight", {32, 4}});
    ASSERT_TRUE(a) << a.error().text();
    ASSERT_TRUE(b) << b.error().text();
    float first_of_b = 0;
    std::memcpy(&first_of_b, b->data.data(), sizeof first_of_b);
    EXPECT_EQ(first_of_b, 4 * 64);  // behind A
}

TEST_F(WeightsIo, AModelThatItsFamilyCannotSayIsSavedWithoutConfig) {
    plan.model.type = "llama";
    plan.model.qkv_bias = false;
    plan.model.layers[0].window = 8;
    const at::Tensor weights = at::zeros({count_parameters(plan.model).total()});
    EXPECT_EQ(save_weights(plan, weights, at("a")).value(), false);
    EXPECT_FALSE(std::filesystem::exists(at("a/config.json")));
    EXPECT_TRUE(std::filesystem::exists(at("a/model.safetensors")));
}

TEST_F(WeightsIo, AFolderThatCannotBeMadeIsARunThatFailed) {
    ASSERT_TRUE(write_file(at("file"), "x"));
    const Result<bool> saved =
        save_weights(plan, at::zeros({count_parameters(plan.model).total()}), at("file/folder"));
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().fault, Fault::run_failed);
}

}  // namespace
}  // namespace headroom::engine::test
