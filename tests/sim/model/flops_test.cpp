#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "random_model.h"
#include "shipped.h"

namespace headroom::test {
namespace {

double linear(const Flops& f) {
    return f.attention_projections + f.mlp + f.head;
}

TEST(Flops, qwen2_5_7b_has_the_figures_of_the_method) {
    const Flops one = forward_flops(shipped("Qwen2.5-7B"), Tokens(1));
    // Two for each weight outside the embedding, biases and norms: 1.41e10 a token.
    EXPECT_EQ(linear(one), 2.0 * (7'615'616'512.0 - 152064.0 * 3584 - 57 * 3584 - 28 * (3584 + 1024)));
    EXPECT_NEAR(linear(one), 1.41e10, 0.005e10);
    EXPECT_EQ(one.attention, 4.0 * 3584 * 28);
    EXPECT_EQ(one.head, 2.0 * 3584 * 152064);

    const double n = 1 << 20;
    const Flops many = forward_flops(shipped("Qwen2.5-7B"), Tokens(1 << 20));
    EXPECT_EQ(linear(many), n * linear(one));
    EXPECT_DOUBLE_EQ(many.attention, 4.0 * (n * (n + 1) / 2) * 3584 * 28);
    EXPECT_DOUBLE_EQ(many.total(), linear(many) + many.attention);
}

TEST(Flops, a_tied_head_still_computes) {
    EXPECT_EQ(forward_flops(shipped("Qwen2.5-0.5B"), Tokens(10)).head, 2.0 * 10 * 896 * 151936);
}

TEST(Flops, experts_that_are_not_visited_cost_nothing) {
    const Flops f = forward_flops(shipped("Qwen3-30B-A3B"), Tokens(1));
    EXPECT_EQ(f.mlp, 48 * (6.0 * 2048 * 768 * 8 + 2.0 * 2048 * 128));
}

TEST(Flops, latent_attention_expands_keys_and_values_of_all_heads) {
    const Flops f = forward_flops(shipped("DeepSeek-V3"), Tokens(1));
    EXPECT_EQ(f.attention, 61 * 2.0 * 128 * (192 + 128));
    EXPECT_EQ(f.attention_projections, 61 * 2.0 *
                                           (7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 +
                                            512.0 * 128 * 256 + 128.0 * 128 * 7168));
    EXPECT_EQ(f.mlp, 3 * 6.0 * 7168 * 18432 + 58 * (6.0 * 7168 * 2048 * 9 + 2.0 * 7168 * 256));
}

TEST(Flops, keys_at_the_edge_of_the_window) {
    const Layer full{}, windowed{.window = 4};
    EXPECT_EQ(attended_keys(full, Tokens(5)), 15);
    EXPECT_EQ(attended_keys(windowed, Tokens(4)), 10);
    EXPECT_EQ(attended_keys(windowed, Tokens(5)), 14);
    EXPECT_EQ(attended_keys(windowed, Tokens(6)), 18);
    EXPECT_EQ(attended_keys(full, Tokens(0)), 0);
}

RC_GTEST_PROP(Flops, keys_are_what_each_query_sees, ()) {
    const Layer layer{.window = *rc::gen::inRange<int64_t>(0, 40)};
    const auto n = *rc::gen::inRange<int64_t>(0, 100);
    double seen = 0;
    for (int64_t i = 1; i <= n; ++i)
        seen += static_cast<double>(layer.window == 0 ? i : std::min(i, layer.window));
    RC_ASSERT(attended_keys(layer, Tokens(n)) == seen);
}

RC_GTEST_PROP(Flops, grow_with_the_context, (uint16_t tokens)) {
    const Model m = random_model();
    const Flops less = forward_flops(m, Tokens(tokens)), more = forward_flops(m, Tokens(tokens + 1));
    RC_ASSERT(less.attention_projections < more.attention_projections);
    RC_ASSERT(less.attention < more.attention);
    RC_ASSERT(less.mlp < more.mlp);
    RC_ASSERT(less.head < more.head);
}

}  // namespace
}  // namespace headroom::test
