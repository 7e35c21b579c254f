#include "gui/paint/streams_list.h"

#include <gtest/gtest.h>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

TEST(StreamsList, HasALaneForEachStreamThatHasOps) {
    TimelineMaker maker;
    maker.add(Stream::to_host, OpKind::store_pages, 0, 100);
    maker.add(Stream::compute, OpKind::qkv, 0, 600);
    maker.add(Stream::compute, OpKind::down, 600, 1000, {0});
    const StepPtr step = maker.step();
    const Lanes lanes =
        make_lanes({step, &step->timeline}, step->index.streams, step->statistics.critical_path);
    ASSERT_EQ(lanes.lanes.size(), 2U);
    EXPECT_EQ(lanes.lanes[0].stream, Stream::compute);
    EXPECT_EQ(lanes.place_of(Stream::to_host), 1U);
    EXPECT_EQ(lanes.place_of(Stream::disk), 2U);
    EXPECT_EQ(lanes.critical[0], (std::vector<OpId>{1, 2}));

    const OpsByStream hits = by_stream(step->timeline, std::vector<OpId>{0, 2});
    const StreamsList list = list_of(lanes, &hits, {0, 1000, 0, 100});
    ASSERT_EQ(list.lanes.size(), 2U);
    EXPECT_EQ(list.lanes[0].slices.size(), 2U);
    ASSERT_EQ(list.critical[0].size(), 1U);
    EXPECT_DOUBLE_EQ(list.critical[0][0].width, 100);
    EXPECT_TRUE(list.critical[1].empty());
    ASSERT_EQ(list.hits[0].size(), 1U);
    EXPECT_DOUBLE_EQ(list.hits[0][0].x, 60);
    EXPECT_EQ(list.hits[1].size(), 1U);
    ASSERT_EQ(list.kinds.size(), 3U);
    EXPECT_EQ(list.kinds[0].kind, OpKind::qkv);
    EXPECT_EQ(list.kinds[0].busy_ns, 600);
    EXPECT_EQ(list.kinds[2].kind, OpKind::store_pages);
    EXPECT_TRUE(list_of(lanes, nullptr, {0, 1000, 0, 100}).hits[0].empty());
}

}  // namespace
}  // namespace headroom::gui::test
