#include "program/arena.h"

#include <gtest/gtest.h>
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/units.h"

namespace headroom {
namespace {

constexpr int64_t kStep = 512;

bool meets(const std::vector<Packable>& requests, size_t i, size_t j) {
    return ((requests[i].conflicts[j / 64] >> (j % 64)) & 1) != 0;
}

// Requests that live over intervals of time [first, last]; they conflict where these meet.
struct Timed {
    std::vector<Packable> requests;
    int64_t most_at_once = 0;  // largest sum of bytes, each rounded up, that lives at one time
};

Timed draw_timed() {
    Timed t;
    const size_t n = *rc::gen::inRange<size_t>(0, 90);  // more than a word of bits
    std::vector<std::pair<int, int>> spans;
    for (size_t i = 0; i < n; ++i) {
        const int first = *rc::gen::inRange(0, 30);
        spans.emplace_back(first, first + *rc::gen::inRange(0, 10));
        Packable p;
        p.bytes = *rc::gen::inRange<int64_t>(1, 20'000);
        p.conflicts.assign(n / 64 + 1, 0);
        t.requests.push_back(p);
    }
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) {
            if (i != j && spans[i].first <= spans[j].second && spans[j].first <= spans[i].second) {
                t.requests[i].conflicts[j / 64] |= uint64_t{1} << (j % 64);
            }
        }
    }
    for (int now = 0; now < 40; ++now) {
        int64_t live = 0;
        for (size_t i = 0; i < n; ++i) {
            if (spans[i].first <= now && now <= spans[i].second) live += t.requests[i].bytes;
        }
        t.most_at_once = std::max(t.most_at_once, live);
    }
    return t;
}

RC_GTEST_PROP(Arena, RequestsThatMeetNeverOverlap, ()) {
    const Timed t = draw_timed();
    const Packing packing = pack(t.requests, kStep);
    RC_ASSERT(packing.addresses.size() == t.requests.size());
    int64_t end = 0;
    for (size_t i = 0; i < t.requests.size(); ++i) {
        const int64_t at = packing.addresses[i];
        RC_ASSERT(at >= 0 && at % kStep == 0);
        end = std::max(end, round_up(at + t.requests[i].bytes, kStep));
        for (size_t j = 0; j < i; ++j) {
            if (!meets(t.requests, i, j)) continue;
            const int64_t other = packing.addresses[j];
            RC_ASSERT(at + t.requests[i].bytes <= other || other + t.requests[j].bytes <= at);
        }
    }
    RC_ASSERT(packing.bytes == end);
    RC_ASSERT(packing.bytes >= t.most_at_once);
}

Packable request(int64_t bytes, uint64_t conflicts) {
    return Packable{bytes, {conflicts}};
}

TEST(Arena, WhatNeverMeetsSharesItsPlace) {
    const std::vector<Packable> requests{request(1000, 0), request(3000, 0), request(512, 0)};
    const Packing packing = pack(requests, kStep);
    EXPECT_EQ(packing.addresses, (std::vector<int64_t>{0, 0, 0}));
    EXPECT_EQ(packing.bytes, 3072);
}

TEST(Arena, FillsTheLowestGap) {
    // The two large ones meet each other, the small one meets the largest only.
    const std::vector<Packable> requests{request(512, 0b010), request(4096, 0b101), request(2048, 0b010)};
    const Packing packing = pack(requests, kStep);
    EXPECT_EQ(packing.addresses, (std::vector<int64_t>{4096, 0, 4096}));
    EXPECT_EQ(packing.bytes, 4096 + 2048);
}

TEST(Arena, NothingNeedsNothing) {
    EXPECT_EQ(pack({}, kStep).bytes, 0);
}

}  // namespace
}  // namespace headroom
