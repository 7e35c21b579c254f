// KV bytes against figures that engines reported (tests/ground_truth/kv_cache.json).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "random_model.h"
#include "shipped.h"

namespace headroom::test {
namespace {

Dtype dtype_of(const nlohmann::json& test_case) {
    const std::string name = test_case.at("kv_dtype");
    const auto dtype = parse_dtype(name == "f16" ? "fp16" : name, name);
    EXPECT_TRUE(dtype) << name;
    return dtype.value_or(Dtype::bf16);
}

struct Comparison {
    double predicted = 0, truth = 0;
};

Comparison compare(const nlohmann::json& c) {
    const Model m = shipped(c.at("model"));
    const Dtype dtype = dtype_of(c);
    if (c.contains("bytes_per_token")) {
        return {static_cast<double>(kv_bytes_per_token(m, dtype).count()), c.at("bytes_per_token")};
    }
    const Tokens context(c.at("context_tokens").get<int64_t>());
    const bool windows = c.at("id") == "gpt-oss-120b-windowed";
    const auto bytes = static_cast<double>(kv_bytes(m, dtype, context, windows).count());
    if (c.contains("mib")) return {bytes, c.at("mib").get<double>() * double(kMiB)};
    if (c.contains("gib")) return {bytes, c.at("gib").get<double>() * double(kGiB)};
    // K alone, of one GPU.
    return {bytes / 2 / c.at("tensor_parallel").get<double>(),
            c.at("k_gib_per_gpu").get<double>() * double(kGiB)};
}

TEST(Kv, ground_truth) {
    const auto text = read_file(data() / "tests" / "ground_truth" / "kv_cache.json", kMiB);
    ASSERT_TRUE(text);
    const nlohmann::json cases = nlohmann::json::parse(*text).at("cases");
    ASSERT_GE(cases.size(), 7u);
    for (const nlohmann::json& c : cases) {
        const Comparison r = compare(c);
        const double error = r.predicted / r.truth - 1;
        fmt::print("{:<24} predicted {:>16.0f} truth {:>16.0f} error {:+.3f} %\n",
                   c.at("id").get<std::string>(), r.predicted, r.truth, 100 * error);
        // Figures that are not exact are rounded to two decimals of a GiB, and one holds a little more than
        // the window: what its engine batches.
        if (c.at("exact").get<bool>()) {
            EXPECT_EQ(r.predicted, r.truth) << c;
        } else {
            EXPECT_LT(std::abs(error), 0.01) << c;
        }
    }
}

TEST(Kv, a_windowed_layer_keeps_its_window) {
    const Model m = shipped("gpt-oss-120b");
    ASSERT_EQ(m.layers[0].window, 128);
    // 18 of the 36 layers hold 128 tokens of 2 x 512 bf16 values.
    const int64_t row = 2048;
    EXPECT_EQ(kv_bytes(m, m.layers[0], Dtype::bf16, Tokens(127), true), Bytes(127 * row));
    EXPECT_EQ(kv_bytes(m, m.layers[0], Dtype::bf16, Tokens(128), true), Bytes(128 * row));
    EXPECT_EQ(kv_bytes(m, m.layers[0], Dtype::bf16, Tokens(129), true), Bytes(128 * row));
    EXPECT_EQ(kv_bytes(m, m.layers[1], Dtype::bf16, Tokens(129), true), Bytes(129 * row));
    EXPECT_EQ(kv_bytes(m, Dtype::bf16, Tokens(131072), true), Bytes(18 * row * (131072 + 128)));
    EXPECT_EQ(kv_bytes(m, Dtype::bf16, Tokens(131072), false), Bytes(36 * row * 131072));
}

TEST(Kv, the_latent_and_its_rope_part_are_one_row) {
    const Model m = shipped("DeepSeek-V3");
    EXPECT_EQ(kv_values_per_token(m), 576);
    EXPECT_EQ(kv_bytes_per_token(m, Dtype::bf16), Bytes(576 * 2 * 61));
    EXPECT_EQ(kv_bytes_per_token(m, Dtype::q8_0), Bytes(18 * 34 * 61));
}

TEST(Kv, block_formats_pad_k_and_v_apart) {
    Model m = shipped("Qwen2.5-0.5B");
    m.kv_heads = 1, m.head_dim = 48;  // a row of K is one block and a half
    EXPECT_EQ(kv_bytes_per_token(m, Dtype::q8_0), Bytes(2 * 2 * 34 * 24));
}

RC_GTEST_PROP(Kv, windows_only_ever_save, (uint16_t tokens)) {
    const Model m = random_model();
    const Tokens context(tokens);
    const Bytes whole = kv_bytes(m, Dtype::bf16, context, false);
    RC_ASSERT(whole == kv_bytes_per_token(m, Dtype::bf16) * tokens);
    const Bytes kept = kv_bytes(m, Dtype::bf16, context, true);
    RC_ASSERT(kept <= whole);
    RC_ASSERT(kept <= kv_bytes(m, Dtype::bf16, context + Tokens(1), true));
}

}  // namespace
}  // namespace headroom::test
