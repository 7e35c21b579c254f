// Bounds of sizes taken together, tight on both sides.
#include "model/check.h"

#include "shipped.h"

namespace headroom::test {
namespace {

nlohmann::json llama(int64_t hidden, int64_t layers, int64_t heads, int64_t head_dim, int64_t mlp) {
    return {{"model_type", "llama"},        {"hidden_size", hidden}, {"num_hidden_layers", layers},
            {"num_attention_heads", heads}, {"head_dim", head_dim},  {"intermediate_size", mlp},
            {"num_key_value_heads", heads}, {"vocab_size", 1000}};
}

std::string error_of(const nlohmann::json& config) {
    const auto model = parse_model(config.dump(), "c.json", "test");
    return model ? "" : model.error().text();
}

TEST(Check, all_heads_of_a_layer) {
    EXPECT_EQ(error_of(llama(64, 1, 1 << 10, 1 << 10, 64)), "");
    EXPECT_NE(error_of(llama(64, 1, 1 << 10, (1 << 10) + 1, 64)).find("1,024 heads of 1,025"),
              std::string::npos);
}

TEST(Check, kv_values_of_all_layers) {
    // 2 x 2^17 values in 2^10 layers: 2^28. The widths stay below their bound of 2^27.
    EXPECT_EQ(error_of(llama(1, 1 << 10, 1 << 10, (1 << 7) - 1, 1)), "");
    const std::string text = error_of(llama(64, 1 << 11, 1 << 10, 1 << 7, 64));
    EXPECT_NE(text.find("values of K and V in each of 2048 layers"), std::string::npos) << text;
}

TEST(Check, widths_of_all_layers) {
    // 2^14 - 2 + 2 + 2^14 = 2^15 in each of 2^12 layers is the bound.
    EXPECT_EQ(error_of(llama((1 << 14) - 2, 1 << 12, 1, 2, 1 << 14)), "");
    const std::string text = error_of(llama((1 << 14) - 1, 1 << 12, 1, 2, 1 << 14));
    EXPECT_NE(text.find("a width of 32,769"), std::string::npos) << text;
}

TEST(Check, parameters) {
    // One layer: 4096 experts of 3 x 2^20 x 2^17 are above 2^50.
    nlohmann::json moe = config_of("Qwen3-30B-A3B");
    moe.update({{"hidden_size", 1 << 20}, {"num_hidden_layers", 1}, {"num_experts", 4096}});
    moe["moe_intermediate_size"] = 1 << 16;
    EXPECT_EQ(error_of(moe), "");
    moe["moe_intermediate_size"] = 1 << 17;
    EXPECT_NE(error_of(moe).find("parameters in each of 1 layers"), std::string::npos) << error_of(moe);
}

TEST(Check, the_largest_model_allowed_still_counts) {
    nlohmann::json config = llama(1 << 20, 1, 1, 1 << 20, 1 << 20);
    config["vocab_size"] = 1 << 24;
    ASSERT_EQ(error_of(config), "");
    const Model m = parsed(config);
    const Tokens most(int64_t{1} << 30);
    EXPECT_EQ(count_parameters(m).total(),
              (int64_t{7} << 40) + 3 * (int64_t{1} << 20) + 2 * (int64_t{1} << 44));
    EXPECT_EQ(kv_bytes(m, Dtype::fp64, most, false), Bytes(int64_t{1} << 54));
}

}  // namespace
}  // namespace headroom::test
