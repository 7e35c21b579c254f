#include "timeline/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/timeline/hand_made.h"

namespace headroom {
namespace {

Difference row(const Comparison& c, const std::string& group, const std::string& what) {
    for (const Difference& d : c.differences) {
        if (d.group == group && d.what == what) return d;
    }
    ADD_FAILURE() << "no row '" << what << "' in group '" << group << "'";
    return {};
}

TEST(Compare, EqualTimelinesDifferInNothing) {
    const auto c = compare(small_step(), small_step());
    ASSERT_TRUE(c) << c.error().text();
    EXPECT_TRUE(c->same_plan);
    EXPECT_EQ(c->unmatched_ops, 0);
    EXPECT_EQ(c->worst, 0);
    EXPECT_EQ(row(*c, "step", "step time").measured, 4100);
    EXPECT_EQ(row(*c, "step", "step time").weight, 1);
    EXPECT_EQ(row(*c, "tier", "device peak").unit, "bytes");
    EXPECT_EQ(row(*c, "tier", "device peak").predicted, 1512);
    EXPECT_EQ(row(*c, "category", "device staging at its peak").predicted, 512);
    EXPECT_EQ(row(*c, "stream", "to_device busy").predicted, 2000);
    EXPECT_EQ(row(*c, "kind", "attention_past").predicted, 1501);
    for (const Difference& d : c->differences) EXPECT_FALSE(d.predicted == 0 && d.measured == 0) << d.what;
}

TEST(Compare, ErrorsAreRelativeToTheMeasured) {
    Timeline measured = small_step();
    measured.plan_hash = "another";
    measured.ops[3].end_ns += 1025;  // 4100 -> 5125; store_pages 99 -> 1124
    measured.memory[0].bytes = 888;  // device peak 1512 -> 1400
    const auto c = compare(small_step(), measured);
    ASSERT_TRUE(c) << c.error().text();
    EXPECT_FALSE(c->same_plan);
    EXPECT_DOUBLE_EQ(row(*c, "step", "step time").error, -0.2);
    EXPECT_DOUBLE_EQ(row(*c, "tier", "device peak").error, 0.08);
    EXPECT_DOUBLE_EQ(row(*c, "kind", "store_pages").error, -1025.0 / 1124.0);
    EXPECT_DOUBLE_EQ(c->worst, 1025.0 / 1124.0);
}

// 0.5 % of its group is judged, a little less is not.
TEST(Compare, WhatIsSmallIsNotJudged) {
    for (const auto& [small, judged] : {std::pair<int64_t, bool>{5, true}, {4, false}}) {
        HandMade a, b;
        a.op(Stream::compute, OpKind::qkv, 0, 1000 - small);
        a.op(Stream::compute, OpKind::rope, 1000 - small, 1000);
        b.op(Stream::compute, OpKind::qkv, 0, 1000 - small);
        b.op(Stream::compute, OpKind::rope, 1000, 1001);
        const auto c = compare(a.t, b.t);
        ASSERT_TRUE(c) << c.error().text();
        const Difference rope = row(*c, "kind", "rope");
        EXPECT_DOUBLE_EQ(rope.weight, static_cast<double>(small) / 1000.0);
        EXPECT_EQ(rope.judged, judged);
        EXPECT_DOUBLE_EQ(c->worst, judged ? rope.error : 3.0 / 997.0);  // else compute busy, 1000 to 997
    }
}

TEST(Compare, WhatWasNeverMeasuredIsInfinitelyWrong) {
    Timeline measured = small_step();
    measured.memory.pop_back();
    measured.memory.pop_back();
    measured.memory.pop_back();  // weights alone are left
    const auto c = compare(small_step(), measured);
    ASSERT_TRUE(c);
    EXPECT_EQ(row(*c, "tier", "host peak").error, INFINITY);
    EXPECT_TRUE(row(*c, "tier", "host peak").judged);
    EXPECT_EQ(c->worst, INFINITY);
}

TEST(Compare, CountsOpsThatStandElsewhere) {
    Timeline measured = small_step();
    measured.ops[1].layer = 8;
    measured.ops[2].chunk = 1;
    const auto c = compare(small_step(), measured);
    ASSERT_TRUE(c);
    EXPECT_EQ(c->unmatched_ops, 2);
}

TEST(Compare, OtherProgramsAreAnError) {
    Timeline other = small_step();
    other.ops[2].kind = OpKind::attention_own;
    const auto kind = compare(small_step(), other);
    ASSERT_FALSE(kind);
    EXPECT_NE(kind.error().found.find("op 2"), std::string::npos) << kind.error().text();
    EXPECT_NE(kind.error().found.find("'attention_own'"), std::string::npos) << kind.error().text();
    const auto count = compare(small_step(), HandMade().t);
    ASSERT_FALSE(count);
    EXPECT_NE(count.error().found.find("4 ops predicted, 0 measured"), std::string::npos)
        << count.error().text();
}

}  // namespace
}  // namespace headroom
