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
