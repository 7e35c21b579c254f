#include "gui/paint/tier_bar.h"

#include <gtest/gtest.h>

namespace headroom::gui::test {
namespace {

const QRectF kArea(10, 5, 200, 20);

TEST(TierBar, FitsInsideTheBudget) {
    const TierBar bar = tier_bar({{Category::weights, 50}, {Category::kv, 25}}, 75, 100, kArea);
    ASSERT_EQ(bar.pieces.size(), 2U);
    EXPECT_EQ(bar.pieces[0].rect, QRectF(10, 5, 100, 20));
    EXPECT_EQ(bar.pieces[1].rect, QRectF(110, 5, 50, 20));
    EXPECT_EQ(bar.need_x, 160);
    EXPECT_EQ(bar.budget_x, 210);
}

TEST(TierBar, TheNeedFillsItWhereItIsAboveTheBudget) {
    const TierBar bar = tier_bar({{Category::weights, 400}}, 400, 100, kArea);
    EXPECT_EQ(bar.pieces[0].rect, kArea);
    EXPECT_EQ(bar.budget_x, 60);
    EXPECT_EQ(bar.need_x, 210);
}

TEST(TierBar, SliversAreLeftOutAndMoveNothing) {
    const TierBar bar =
        tier_bar({{Category::weights, 1}, {Category::kv, 999'999}}, 1'000'000, 1'000'000, kArea);
    ASSERT_EQ(bar.pieces.size(), 1U);
    EXPECT_EQ(bar.pieces[0].category, Category::kv);
    EXPECT_NEAR(bar.pieces[0].rect.left(), 10.0002, 1e-9);
    EXPECT_TRUE(tier_bar({}, 0, 0, kArea).pieces.empty());
}

}  // namespace
}  // namespace headroom::gui::test
