#include "reference/reference.h"

#include <gtest/gtest.h>

#include "engine/run/small_model.h"

namespace headroom::engine::test {
namespace {

constexpr int64_t kTokens = 22;

struct Small {
    Plan plan = small_plan({"qwen2", true, false, 0, ""}, Dtype::fp64, kTokens, 8, 4);
    at::Tensor weights = random_weights(plan), tokens = random_tokens(plan);
    ReferenceResult step(const ReferenceSelection& selection = {}) const {
        return reference_step(plan.model, weights, tokens, true, selection);
    }
};

// The same rows in every layer.
ReferenceSelection in_all_layers(const Plan& plan, int64_t page, int64_t chunk, int64_t block,
                                 std::vector<std::vector<int32_t>> rows) {
    const size_t layers = static_cast<size_t>(plan.model.layer_count());
    return {page, chunk, block, std::vector(layers, std::move(rows))};
}

void expect_same(const ReferenceResult& a, const ReferenceResult& b) {
    EXPECT_NEAR(a.loss, b.loss, 1e-12 * b.loss);
    EXPECT_LT(relative_error(a.gradients, b.gradients), 1e-12);
}

TEST(Reference, AllPagesSelectedIsDense) {
    const Small s;
    // Chunks of 8 in blocks of 4, the last chunk of 6.
    expect_same(s.step(in_all_layers(s.plan, 4, 8, 4, {{}, {}, {0, 1}, {0, 1}, {0, 1, 2, 3}, {0, 1, 2, 3}})),
                s.step());
}

TEST(Reference, TokensThatSelectTheNearestAreAWindow) {
    const Small s;
    Small windowed = s;
    for (Layer& l : windowed.plan.model.layers) l.window = 7;
    for (const int64_t chunk : {1, 3}) {
        std::vector<std::vector<int32_t>> rows;
        for (int32_t t = 0; t < kTokens; ++t) {
            rows.emplace_back();
            for (int32_t p = std::max(0, t - 6); p < t / chunk * chunk; ++p) rows.back().push_back(p);
        }
        // The last chunk has fewer tokens than blocks.
        expect_same(s.step(in_all_layers(s.plan, 1, chunk, 1, rows)), windowed.step());
    }
}

// RoPE knows distances alone, so chunks that select nothing are sequences of their own.
TEST(Reference, ChunksThatSelectNothingStandAlone) {
    const Small s;
    const ReferenceResult whole = s.step(in_all_layers(s.plan, 4, 12, 12, {{}, {}}));
    const ReferenceResult first = reference_step(s.plan.model, s.weights, s.tokens.narrow(0, 0, 13)),
                          second = reference_step(s.plan.model, s.weights, s.tokens.narrow(0, 12, 10));
    const double share = 12.0 / 21;  // of the targets
    EXPECT_NEAR(whole.loss, share * first.loss + (1 - share) * second.loss, 1e-12);
    EXPECT_LT(relative_error(whole.gradients, share * first.gradients + (1 - share) * second.gradients),
              1e-12);
    EXPECT_GT(relative_error(whole.gradients, s.step().gradients), 1e-3);
}

TEST(Reference, AQueryHasThePagesOfItsBlock) {
    const Small s;
    // Chunks of 10 in blocks of 4, 4, 2; the last of 2.
    const std::vector<std::vector<int32_t>> rows = {{}, {}, {}, {0}, {4}, {0, 2}, {1, 5, 9}};
    std::vector<std::vector<int32_t>> by_token(30);
    for (size_t t = 10; t < 20; ++t) by_token[t] = t < 14 ? rows[3] : t < 18 ? rows[4] : rows[5];
    by_token[20] = by_token[21] = rows[6];
    expect_same(s.step(in_all_layers(s.plan, 2, 10, 4, rows)),
                s.step(in_all_layers(s.plan, 2, 10, 1, by_token)));
}

TEST(Reference, LayersWithoutRowsAreDense) {
    const Small s;
    ReferenceSelection selection = in_all_layers(s.plan, 4, 8, 8, {{}, {0}, {1, 3}});
    selection.pages[0].clear();
    selection.pages.pop_back();
    EXPECT_GT(relative_error(s.step(selection).gradients, s.step().gradients), 1e-3);
    selection.pages.pop_back();
    expect_same(s.step(selection), s.step());
}

}  // namespace
}  // namespace headroom::engine::test
