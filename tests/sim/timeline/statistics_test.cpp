#include "timeline/statistics.h"

#include <gtest/gtest.h>

#include "sim/timeline/hand_made.h"

namespace headroom {
namespace {

const StreamStatistics& of(const Statistics& s, Stream stream) {
    return s.streams[static_cast<size_t>(stream)];
}
const KindStatistics& of(const Statistics& s, OpKind kind) {
    return s.kinds[static_cast<size_t>(kind)];
}

TEST(Statistics, OfKindsStreamsAndPasses) {
    HandMade made;
    made.op(Stream::compute, OpKind::qkv, 5, 15).pass = Pass::fill;
    TimelineOp& second = made.op(Stream::compute, OpKind::qkv, 20, 24);
    second.pass = Pass::fill;
    second.bytes = 100;
    second.flops = 3000;
    made.op(Stream::compute, OpKind::head, 24, 50).pass = Pass::gradient;
    TimelineOp& load = made.op(Stream::to_device, OpKind::load_pages, 0, 12);
    load.bytes = 7;
    load.pass = Pass::gradient;
    const Statistics s = statistics_of(made.t);
    EXPECT_EQ(s.duration_ns, 50);
    EXPECT_EQ(of(s, OpKind::qkv).count, 2);
    EXPECT_EQ(of(s, OpKind::qkv).total_ns, 14);
    EXPECT_EQ(of(s, OpKind::qkv).min_ns, 4);
    EXPECT_EQ(of(s, OpKind::qkv).max_ns, 10);
    EXPECT_EQ(of(s, OpKind::qkv).bytes, 100);
    EXPECT_EQ(of(s, OpKind::qkv).flops, 3000);
    EXPECT_EQ(of(s, OpKind::down).count, 0);
    EXPECT_EQ(of(s, OpKind::down).min_ns, 0);
    EXPECT_EQ(of(s, Stream::compute).ops, 3);
    EXPECT_EQ(of(s, Stream::compute).busy_ns, 40);
    EXPECT_EQ(of(s, Stream::compute).hidden_ns, 0);
    EXPECT_EQ(of(s, Stream::to_device).bytes, 7);
    EXPECT_EQ(of(s, Stream::to_device).hidden_ns, 7);
    EXPECT_EQ(s.pass_ns[static_cast<size_t>(Pass::fill)], 19);
    EXPECT_EQ(s.pass_ns[static_cast<size_t>(Pass::gradient)], 50);
    EXPECT_EQ(s.pass_ns[static_cast<size_t>(Pass::update)], 0);
}

// Two transfers side by side count once: 0-30 travels, compute runs in 10-20.
TEST(Statistics, HiddenShareIsOfTheUnionOfTransfers) {
    HandMade made;
    made.op(Stream::to_device, OpKind::load_pages, 0, 20);
    made.op(Stream::to_host, OpKind::store_pages, 5, 30);
    made.op(Stream::compute, OpKind::qkv, 10, 20);
    const Statistics s = statistics_of(made.t);
    EXPECT_DOUBLE_EQ(s.hidden_share, 10.0 / 30.0);
    EXPECT_EQ(of(s, Stream::to_device).hidden_ns, 10);
    EXPECT_EQ(of(s, Stream::to_host).hidden_ns, 10);
}

TEST(Statistics, NothingTravelsNothingToHide) {
    HandMade made;
    made.op(Stream::compute, OpKind::qkv, 0, 10);
    made.op(Stream::to_host, OpKind::store_pages, 10, 10);  // takes no time
    EXPECT_EQ(statistics_of(made.t).hidden_share, 1);
    EXPECT_EQ(statistics_of(HandMade().t).hidden_share, 1);
    EXPECT_EQ(statistics_of(HandMade().t).duration_ns, 0);
}

TEST(Statistics, SumsNeverWrap) {
    HandMade made;
    for (int i = 0; i < 3; ++i) {
        TimelineOp& op = made.op(Stream::compute, OpKind::attention_past, i, i + 1);
        op.flops = INT64_MAX;
        op.bytes = INT64_MAX;
    }
    const Statistics s = statistics_of(made.t);
    EXPECT_DOUBLE_EQ(of(s, Stream::compute).flops, 3 * 9223372036854775807.0);
    EXPECT_EQ(of(s, OpKind::attention_past).bytes, INT64_MAX);
}

TEST(Statistics, OfTheSmallStep) {
    const Statistics s = statistics_of(small_step());
    EXPECT_EQ(s.duration_ns, 4100);
    EXPECT_EQ(s.critical_path, (std::vector<OpId>{1, 2, 3}));
    EXPECT_EQ(s.critical_gap_ns, 500);
    EXPECT_EQ(s.peaks[static_cast<size_t>(Tier::device)].bytes, 1512);
    EXPECT_EQ(s.peaks[static_cast<size_t>(Tier::device)].op, 1u);
    EXPECT_DOUBLE_EQ(s.hidden_share, 500.0 / 2099.0);
}

}  // namespace
}  // namespace headroom
