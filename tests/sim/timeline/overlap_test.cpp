#include "timeline/overlap.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bitset>

namespace headroom {
namespace {

constexpr size_t kSpan = 200;
using Ticks = std::bitset<kSpan>;

std::vector<Interval> draw() {
    std::vector<Interval> list;
    int64_t at = 0;
    for (int n = *rc::gen::inRange(0, 8); n > 0; --n) {
        at += *rc::gen::inRange(0, 10);
        const int64_t end = at + *rc::gen::inRange(1, 10);
        list.push_back({at, end});
        at = end;
    }
    return list;
}

Ticks ticks_of(const std::vector<Interval>& list) {
    Ticks ticks;
    for (const Interval& i : list) {
        for (int64_t t = i.begin_ns; t < i.end_ns; ++t) ticks.set(static_cast<size_t>(t));
    }
    return ticks;
}

TEST(Overlap, OfListsThatMeetPartly) {
    const std::vector<Interval> a = {{0, 10}, {10, 20}, {30, 40}};
    const std::vector<Interval> b = {{5, 12}, {35, 100}};
    EXPECT_EQ(overlap_ns(a, b), 5 + 2 + 5);
    EXPECT_EQ(overlap_ns(b, a), 12);
    EXPECT_EQ(overlap_ns(a, {}), 0);
    EXPECT_EQ(length_ns(a), 30);
}

TEST(Overlap, UnionJoinsWhatTouches) {
    const std::array<std::vector<Interval>, 3> lists = {
        {{{0, 10}, {20, 30}}, {{10, 12}, {25, 26}}, {{40, 41}}}};
    EXPECT_EQ(union_of(lists), (std::vector<Interval>{{0, 12}, {20, 30}, {40, 41}}));
    EXPECT_TRUE(union_of({}).empty());
}

// Against counting nanosecond by nanosecond.
RC_GTEST_PROP(Overlap, EqualsTheCountOfTicks, ()) {
    const std::array<std::vector<Interval>, 3> lists = {draw(), draw(), draw()};
    const Ticks a = ticks_of(lists[0]), b = ticks_of(lists[1]), c = ticks_of(lists[2]);
    RC_ASSERT(overlap_ns(lists[0], lists[1]) == static_cast<int64_t>((a & b).count()));
    RC_ASSERT(length_ns(lists[2]) == static_cast<int64_t>(c.count()));
    const std::vector<Interval> all = union_of(lists);
    RC_ASSERT(ticks_of(all) == (a | b | c));
    for (size_t i = 1; i < all.size(); ++i) RC_ASSERT(all[i].begin_ns > all[i - 1].end_ns);
}

}  // namespace
}  // namespace headroom
