#include "run/pages.h"

#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

TEST(PageTable, ALayersPagesAreOneRun) {
    PageTable t(3, 4, 24);
    for (int64_t page = 0; page < 4; ++page) {
        for (int64_t layer = 0; layer < 3; ++layer) ASSERT_TRUE(t.take(PageKind::kv, layer, page));
    }
    const std::vector<PageRun> runs = t.runs(PageKind::kv, 1, 0, 4);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].unit, 4);
    EXPECT_EQ(runs[0].count, 4);
    EXPECT_EQ(t.live_units(), 12);
}

TEST(PageTable, EveryUnitIsUsedBeforeItRunsOver) {
    PageTable t(2, 3, 8);  // smaller than 12: K and V go while gradients come
    for (int64_t i = 0; i < 6; ++i) ASSERT_TRUE(t.take(PageKind::kv, i / 3, i % 3));
    ASSERT_TRUE(t.take(PageKind::gradient, 1, 0));
    ASSERT_TRUE(t.take(PageKind::gradient, 1, 1));
    const Result<void> over = t.take(PageKind::gradient, 1, 2);
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().fault, Fault::run_failed);
    EXPECT_FALSE(t.has(PageKind::gradient, 1, 2));
    t.free(PageKind::kv, 0, 1);
    ASSERT_TRUE(t.take(PageKind::gradient, 1, 2));
    EXPECT_EQ(t.unit(PageKind::gradient, 1, 2), 1);  // what was given back
    EXPECT_EQ(t.live_units(), 8);
}

// A page of two units takes any two: none is lost between pages of one unit.
TEST(PageTable, PartsOfAPageNeedNoNeighbours) {
    PageTable t(1, 4, 6, {}, "pool", {1, 2});
    for (int64_t page = 0; page < 4; ++page) ASSERT_TRUE(t.take(PageKind::kv, 0, page));  // units 0 to 3
    ASSERT_TRUE(t.take(PageKind::gradient, 0, 3));                                        // 4 and 5
    EXPECT_EQ(t.live_units(), 6);
    t.free(PageKind::kv, 0, 0);
    const Result<void> over = t.take(PageKind::gradient, 0, 2);
    ASSERT_FALSE(over);
    EXPECT_NE(over.error().text().find("6 units, all but 1 in use"), std::string::npos)
        << over.error().text();
    EXPECT_EQ(t.live_units(), 5);
    t.free(PageKind::kv, 0, 2);
    ASSERT_TRUE(t.take(PageKind::gradient, 0, 2));
    EXPECT_EQ(t.live_units(), 6);
    const std::vector<PageRun> runs = t.runs(PageKind::gradient, 0, 2, 4);
    ASSERT_EQ(runs.size(), 3u);  // parts 4 and 5 of the layer in units 2 and 0, then 6 and 7 in 4 and 5
    const int64_t expected[][3] = {{4, 1, 2}, {5, 1, 0}, {6, 2, 4}};
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(runs[i].first, expected[i][0]);
        EXPECT_EQ(runs[i].count, expected[i][1]);
        EXPECT_EQ(runs[i].unit, expected[i][2]);
    }
}

TEST(PageTable, RunsEndWhereUnitsDo) {
    PageTable t(1, 4, 6);
    ASSERT_TRUE(t.take(PageKind::gradient, 0, 1));  // unit 3, which K and V of page 3 prefer
    for (int64_t page = 0; page < 4; ++page) ASSERT_TRUE(t.take(PageKind::kv, 0, page));
    const std::vector<PageRun> runs = t.runs(PageKind::kv, 0, 0, 4);
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].count, 3);
    EXPECT_EQ(runs[1].first, 3);
    EXPECT_EQ(runs[1].unit, 4);
}

}  // namespace
}  // namespace headroom::engine
