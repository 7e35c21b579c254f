#include "gui/paint/lane_list.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

struct Made {
    std::shared_ptr<const Timeline> timeline;
    StepIndex index;
    Lane lane;
};
Made made_of(Timeline t, Stream stream = Stream::compute) {
    Made made;
    made.timeline = std::make_shared<const Timeline>(std::move(t));
    made.index = index_of(*made.timeline);
    made.lane = make_lane(stream, made.timeline, made.index.of(stream));
    return made;
}

// 100 pixels, 10 ns each: a cell of 3 pixels is 30 ns.
const TimeAxis kAxis{0, 1000, 50, 100};

TEST(LaneList, WideOpsAreSlices) {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 300);
    maker.add(Stream::compute, OpKind::down, 300, 330);
    const Made made = made_of(maker.take());
    const LaneList list = list_of(made.lane, kAxis);
    ASSERT_EQ(list.slices.size(), 2U);
    EXPECT_EQ(list.slices[0].op, 0U);
    EXPECT_DOUBLE_EQ(list.slices[0].extent.x, 50);
    EXPECT_DOUBLE_EQ(list.slices[0].extent.width, 30);
    EXPECT_EQ(list.slices[1].kind, OpKind::down);
    EXPECT_DOUBLE_EQ(list.slices[1].extent.x, 80);
    EXPECT_DOUBLE_EQ(list.slices[1].extent.width, 3);
    EXPECT_TRUE(list.bins.empty());
    EXPECT_TRUE(list.gaps.empty());
    EXPECT_EQ(list.busy_ns[static_cast<size_t>(OpKind::qkv)], 300);
}

TEST(LaneList, NarrowOpsAreFusedByCell) {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 5);
    maker.add(Stream::compute, OpKind::down, 5, 15);
    maker.add(Stream::compute, OpKind::norm, 20, 36);  // 10 ns in the first cell, 6 in the second
    const Made made = made_of(maker.take());
    const LaneList list = list_of(made.lane, kAxis);
    EXPECT_TRUE(list.slices.empty());
    ASSERT_EQ(list.bins.size(), 2U);
    EXPECT_DOUBLE_EQ(list.bins[0].extent.x, 50);
    EXPECT_DOUBLE_EQ(list.bins[0].extent.width, 3);
    EXPECT_EQ(list.bins[0].kind, OpKind::down);  // of equals, the one that had it first
    EXPECT_DOUBLE_EQ(list.bins[0].busy, 25.0 / 30);
    ASSERT_EQ(list.parts_of(list.bins[0]).size(), 3U);
    EXPECT_EQ(list.parts_of(list.bins[0])[0].kind, OpKind::norm);
    EXPECT_DOUBLE_EQ(list.parts_of(list.bins[0])[0].share, 10.0 / 30);
    EXPECT_EQ(list.bins[1].kind, OpKind::norm);
    EXPECT_DOUBLE_EQ(list.bins[1].busy, 6.0 / 30);
}

TEST(LaneList, ABinEndsWhereASliceOrAGapBegins) {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::norm, 0, 10);
    maker.add(Stream::compute, OpKind::qkv, 10, 100);
    maker.add(Stream::compute, OpKind::norm, 100, 105);
    maker.add(Stream::compute, OpKind::norm, 300, 310);
    const Made made = made_of(maker.take());
    const LaneList list = list_of(made.lane, kAxis);
    ASSERT_EQ(list.bins.size(), 3U);
    EXPECT_DOUBLE_EQ(list.bins[0].extent.width, 1);
    EXPECT_DOUBLE_EQ(list.bins[0].busy, 1);
    EXPECT_DOUBLE_EQ(list.bins[1].extent.x, 60);
    EXPECT_DOUBLE_EQ(list.bins[1].extent.width, 0.5);
    EXPECT_DOUBLE_EQ(list.bins[1].busy, 1);
    ASSERT_EQ(list.gaps.size(), 1U);
    EXPECT_EQ(list.gaps[0].after, 3U);
    EXPECT_DOUBLE_EQ(list.gaps[0].extent.x, 60.5);
    EXPECT_DOUBLE_EQ(list.gaps[0].extent.width, 19.5);
}

TEST(LaneList, WithinOneOpOrOneGap) {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 1'000'000);
    maker.add(Stream::compute, OpKind::down, 2'000'000, 3'000'000);
    const Made made = made_of(maker.take());
    const LaneList in_op = list_of(made.lane, {500'000, 500'100, 0, 100});
    ASSERT_EQ(in_op.slices.size(), 1U);
    EXPECT_EQ(in_op.slices[0].op, 0U);
    EXPECT_LE(in_op.slices[0].extent.x, 0);
    EXPECT_GE(in_op.slices[0].extent.x + in_op.slices[0].extent.width, 100);
    EXPECT_LT(in_op.slices[0].extent.width, 200);
    EXPECT_EQ(in_op.busy_ns[static_cast<size_t>(OpKind::qkv)], 100);
    const LaneList in_gap = list_of(made.lane, {1'500'000, 1'500'100, 0, 100});
    EXPECT_TRUE(in_gap.slices.empty());
    ASSERT_EQ(in_gap.gaps.size(), 1U);
    EXPECT_EQ(in_gap.gaps[0].after, 1U);
}

TEST(LaneList, PanningDoesNotMoveTheGridOfBins) {
    const Made made = made_of(random_timeline(3, 20'000));
    const TimeAxis axis{100'000, 400'000, 0, 1000}, panned{100'300, 400'300, 0, 1000};
    const LaneList before = list_of(made.lane, axis), after = list_of(made.lane, panned);
    size_t same = 0;
    for (const Bin& a : before.bins) {
        for (const Bin& b : after.bins) {
            if (std::abs(a.extent.x - (b.extent.x + 1)) > 1e-6 || a.extent.x < 5 || a.extent.x > 990)
                continue;
            EXPECT_EQ(a.kind, b.kind);
            EXPECT_DOUBLE_EQ(a.busy, b.busy);
            ++same;
        }
    }
    EXPECT_GT(same, before.bins.size() * 9 / 10);
}

// Whatever is in view, all of it is in the list and nothing twice.
class RandomLaneList : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomLaneList, HoldsAllOfTheRangeOnce) {
    const Made made = made_of(random_timeline(GetParam(), 12'000));
    std::mt19937 random(GetParam());
    const int64_t end = made.lane.op(made.lane.ops.size() - 1).end_ns;
    for (int i = 0; i < 40; ++i) {
        const int64_t length =
            std::max<int64_t>(10, static_cast<int64_t>(static_cast<double>(end) * std::pow(10.0, -(i % 6))));
        const int64_t begin =
            std::uniform_int_distribution<int64_t>(0, std::max<int64_t>(0, end - length))(random);
        const TimeAxis axis{begin, begin + length, 0, 700};
        const LaneList list = list_of(made.lane, axis);
        std::array<int64_t, kOpKinds> busy{};
        for (size_t op = 0; op < made.lane.ops.size(); ++op) {
            const TimelineOp& t = made.lane.op(op);
            busy[static_cast<size_t>(t.kind)] +=
                std::max<int64_t>(0, std::min(t.end_ns, axis.end_ns) - std::max(t.start_ns, axis.begin_ns));
        }
        EXPECT_EQ(list.busy_ns, busy);
        // In pixels: slices and the busy part of bins inside the range are what is busy. Bins at the two
        // edges reach out by a cell at most.
        double drawn = 0;
        std::vector<Extent> all;
        const auto inside = [](const Extent& e) {
            return std::max(0.0, std::min(e.x + e.width, 700.0) - std::max(e.x, 0.0));
        };
        for (const Slice& s : list.slices) {
            drawn += inside(s.extent);
            all.push_back(s.extent);
        }
        for (const Bin& b : list.bins) {
            double parts = 0;
            for (const BinPart& p : list.parts_of(b)) parts += p.share;
            EXPECT_NEAR(std::min(1.0, parts), b.busy, 1e-9);
            drawn += inside(b.extent) * b.busy;
            all.push_back(b.extent);
        }
        for (const Gap& g : list.gaps) all.push_back(g.extent);
        int64_t sum = 0;
        for (const int64_t ns : busy) sum += ns;
        EXPECT_NEAR(drawn, static_cast<double>(sum) / axis.ns_per_pixel(), 2 * LaneList::kFused_px + 1e-6);
        std::sort(all.begin(), all.end(), [](const Extent& a, const Extent& b) {
            return a.x != b.x ? a.x < b.x : a.width < b.width;
        });
        for (size_t k = 1; k < all.size(); ++k) EXPECT_LE(all[k - 1].x + all[k - 1].width, all[k].x + 1e-6);
        EXPECT_LE(list.slices.size() + list.bins.size() + list.gaps.size(), 3 * 700U);
    }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLaneList, testing::Range(1U, 6U));

TEST(Extents, AreAPixelAtLeastAndJoinWhereTheyTouch) {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 100);
    maker.add(Stream::compute, OpKind::qkv, 100, 200);
    maker.add(Stream::compute, OpKind::qkv, 500, 501);
    maker.add(Stream::compute, OpKind::qkv, 990, 1500);
    const Timeline t = maker.take();
    const std::vector<OpId> marked{0, 1, 2, 3};
    const std::vector<Extent> extents = extents_of(t, marked, kAxis);
    ASSERT_EQ(extents.size(), 3U);
    EXPECT_DOUBLE_EQ(extents[0].x, 50);
    EXPECT_DOUBLE_EQ(extents[0].width, 20);
    EXPECT_DOUBLE_EQ(extents[1].x, 100);
    EXPECT_DOUBLE_EQ(extents[1].width, 1);
    EXPECT_DOUBLE_EQ(extents[2].x, 149);
    EXPECT_DOUBLE_EQ(extents[2].x + extents[2].width, 150);
    EXPECT_TRUE(extents_of(t, {}, kAxis).empty());
}

TEST(Extents, CoverEveryMarkedOpInView) {
    const Made made = made_of(random_timeline(9, 9000));
    std::vector<OpId> marked;
    for (size_t i = 0; i < made.lane.ops.size(); i += 3) marked.push_back(made.lane.ops[i]);
    const int64_t end = made.lane.op(made.lane.ops.size() - 1).end_ns;
    for (const int64_t length : {end, end / 7, end / 100, end / 3000}) {
        const TimeAxis axis{end / 3, std::min(end, end / 3 + length), 0, 500};
        const std::vector<Extent> extents = extents_of(*made.timeline, marked, axis);
        for (size_t i = 1; i < extents.size(); ++i)
            EXPECT_LT(extents[i - 1].x + extents[i - 1].width, extents[i].x);
        for (const OpId op : marked) {
            const TimelineOp& t = made.timeline->ops[op];
            if (t.end_ns <= axis.begin_ns || t.start_ns >= axis.end_ns) continue;
            const double middle = std::clamp((axis.x_of(t.start_ns) + axis.x_of(t.end_ns)) / 2, 0.0, 500.0);
            const bool covered = std::any_of(extents.begin(), extents.end(), [&](const Extent& e) {
                return middle >= e.x - 1 && middle <= e.x + e.width + 1;
            });
            EXPECT_TRUE(covered) << op;
        }
    }
}

}  // namespace
}  // namespace headroom::gui::test
