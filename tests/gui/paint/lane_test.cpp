#include "gui/paint/lane.h"

#include <gtest/gtest.h>

#include <array>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

TEST(Lane, EveryGroupKnowsWhatIsBelowIt) {
    const auto timeline = std::make_shared<const Timeline>(random_timeline(1, 6000));
    const StepIndex index = index_of(*timeline);
    const Lane lane = make_lane(Stream::compute, timeline, index.of(Stream::compute));
    ASSERT_GE(lane.levels.size(), 3U);
    size_t ops_of_group = Lane::kLeaf;
    for (const LaneLevel& level : lane.levels) {
        for (size_t g = 0; g < level.groups.size(); ++g) {
            const LaneGroup& group = level.groups[g];
            const size_t first = g * ops_of_group, last = std::min(first + ops_of_group, lane.ops.size());
            ASSERT_LT(first, last);
            int64_t longest = 0, gap = 0;
            std::array<int64_t, kOpKinds> sums{};
            for (size_t i = first; i < last; ++i) {
                const TimelineOp& op = lane.op(i);
                longest = std::max(longest, op.end_ns - op.start_ns);
                gap = std::max(gap, op.start_ns - lane.gap_begin_ns(i));
                sums[static_cast<size_t>(op.kind)] += op.end_ns - op.start_ns;
            }
            EXPECT_EQ(group.begin_ns, lane.op(first).start_ns);
            EXPECT_EQ(group.end_ns, lane.op(last - 1).end_ns);
            EXPECT_EQ(group.longest_ns, longest);
            EXPECT_EQ(group.gap_ns, gap);
            for (const KindShare& share : level.shares_of(group))
                EXPECT_EQ(std::exchange(sums[static_cast<size_t>(share.kind)], 0), share.busy_ns);
            EXPECT_EQ(sums, (std::array<int64_t, kOpKinds>{}));
        }
        ops_of_group *= Lane::kFan;
    }
    EXPECT_EQ(lane.levels.back().groups.size(), 1U);
}

TEST(Lane, WithoutOpsThereIsNoLevel) {
    const auto timeline = std::make_shared<const Timeline>(random_timeline(1, 0));
    EXPECT_TRUE(make_lane(Stream::disk, timeline, {}).levels.empty());
}

}  // namespace
}  // namespace headroom::gui::test
