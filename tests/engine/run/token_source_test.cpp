#include "run/token_source.h"

#include "engine/run/plan_files.h"
#include "weights/token_ids.h"

namespace headroom::engine::test {
namespace {

class TokenSourceTest : public TrainingFolder {
protected:
    // Raw uint32: value(i) for each i.
    template <class Value>
    std::filesystem::path write(int64_t count, Value value) const {
        std::vector<uint32_t> ids;
        for (int64_t i = 0; i < count; ++i) ids.push_back(static_cast<uint32_t>(value(i)));
        EXPECT_TRUE(write_file(at("ids.bin"), {reinterpret_cast<const char*>(ids.data()), 4 * ids.size()}));
        return at("ids.bin");
    }
    Plan plan = training_plan();  // 96 tokens, a vocabulary of 160
};

TEST_F(TokenSourceTest, SeededIdsAreTheSameInEveryStep) {
    const Result<TokenSource> source = TokenSource::open(plan, 3, "");
    ASSERT_TRUE(source);
    EXPECT_TRUE(source->check(0, 1000));
    const at::Tensor first = *source->of_step(0);
    EXPECT_EQ(first.scalar_type(), at::kLong);
    EXPECT_TRUE(at::equal(first, at::tensor(random_token_ids(3, Tokens(0), plan.context, 160), at::kLong)));
    EXPECT_TRUE(at::equal(first, *source->of_step(7)));
    EXPECT_FALSE(at::equal(first, *TokenSource::open(plan, 4, "")->of_step(0)));
}

TEST_F(TokenSourceTest, StepsGoThroughTheFileAndBeginAgain) {
    // Two contexts and a rest that makes none.
    const Result<TokenSource> source =
        TokenSource::open(plan, 0, write(2 * 96 + 95, [](int64_t i) { return i % 150; }));
    ASSERT_TRUE(source) << source.error().text();
    EXPECT_TRUE(source->check(0, 10));
    for (int64_t step = 0; step < 5; ++step) {
        const at::Tensor ids = *source->of_step(step);
        ASSERT_EQ(ids.numel(), 96);
        for (int64_t i = 0; i < 96; ++i) ASSERT_EQ(ids[i].item<int64_t>(), (step % 2 * 96 + i) % 150);
    }
}

TEST_F(TokenSourceTest, AStepTakesABatch) {
    plan.recipe.batch = 2;
    const auto count_up = [](int64_t i) { return i % 150; };
    EXPECT_FALSE(TokenSource::open(plan, 0, write(2 * 96 - 1, count_up)));
    const Result<TokenSource> source = TokenSource::open(plan, 0, write(5 * 96, count_up));
    ASSERT_TRUE(source) << source.error().text();
    for (int64_t step = 0; step < 3; ++step) {
        const at::Tensor ids = *source->of_step(step);
        ASSERT_EQ(ids.numel(), 2 * 96);
        for (int64_t i = 0; i < 2 * 96; ++i) ASSERT_EQ(ids[i].item<int64_t>(), (step % 2 * 2 * 96 + i) % 150);
    }
    EXPECT_EQ(TokenSource::open(plan, 3, "")->of_step(0)->numel(), 2 * 96);
}

TEST_F(TokenSourceTest, WhatStepsNeedIsToldBeforehand) {
    EXPECT_EQ(TokenSource::open(plan, 0, write(95, [](int64_t i) { return i; })).error().found,
              "holds 95 token ids");
    // The bad id lies in the second context.
    const auto file = write(192, [](int64_t i) { return i == 100 ? 160 : 0; });
    const Result<TokenSource> source = TokenSource::open(plan, 0, file);
    ASSERT_TRUE(source);
    EXPECT_TRUE(source->check(0, 1));
    EXPECT_EQ(source->check(0, 2).error().text(), file.string() + ", token 100: id 160; allowed: 0 to 159");
    EXPECT_TRUE(source->check(2, 1));
    EXPECT_FALSE(source->check(1, 1));
}

}  // namespace
}  // namespace headroom::engine::test
