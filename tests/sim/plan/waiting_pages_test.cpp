#include "plan/waiting_pages.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "sim/plan/most_waiting.h"

namespace headroom {
namespace {

// What each chunk selects in each layer.
struct Selected {
    int64_t layers, chunks, pages_per_chunk;
    std::vector<std::set<int64_t>> rows;  // chunk x layers + layer
    std::set<int64_t>& row(int64_t chunk, int64_t layer) {
        return rows[static_cast<size_t>(chunk * layers + layer)];
    }
};

Selected nothing(int64_t layers, int64_t chunks, int64_t pages_per_chunk) {
    return {layers, chunks, pages_per_chunk,
            std::vector<std::set<int64_t>>(static_cast<size_t>(layers * chunks))};
}

int64_t most_waiting(Selected& s) {
    return test::most_waiting(
        s.layers, s.chunks,
        s.pages_per_chunk, [&](int64_t chunk, int64_t layer) -> const auto& { return s.row(chunk, layer); });
}

RC_GTEST_PROP(WaitingPages, CountWhatTheGradientPassSees, ()) {
    const auto number = [](int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); };
    Selected s = nothing(number(1, 4), number(2, 12), number(1, 5));
    WaitingPages counted(1 << 20, s.layers, s.chunks, s.pages_per_chunk);
    for (int64_t c = 1; c < s.chunks; ++c) {
        for (int64_t l = 0; l < s.layers; ++l) {
            counted.enter(c, l);
            for (int64_t i = number(0, 6); i > 0; --i) {
                const int64_t page = number(0, c * s.pages_per_chunk - 1);
                RC_ASSERT(counted.has_room(page));
                counted.select(page);
                s.row(c, l).insert(page);
            }
        }
    }
    RC_ASSERT(counted.most() == most_waiting(s));
}

// A page has room exactly where selecting it leaves no step with more than the limit.
RC_GTEST_PROP(WaitingPages, HaveRoomUpToTheLimitAndNoFurther, ()) {
    const auto number = [](int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); };
    Selected s = nothing(number(1, 3), number(2, 8), number(1, 4));
    const int64_t limit = number(1, 12);
    WaitingPages waiting(limit, s.layers, s.chunks, s.pages_per_chunk);
    int64_t refused = 0;
    for (int64_t c = 1; c < s.chunks; ++c) {
        for (int64_t l = 0; l < s.layers; ++l) {
            waiting.enter(c, l);
            for (int64_t i = 0; i < 5; ++i) {
                const int64_t page = number(0, c * s.pages_per_chunk - 1);
                Selected with = s;
                with.row(c, l).insert(page);
                const bool room = waiting.has_room(page);
                RC_ASSERT(room == (most_waiting(with) <= limit));
                refused += room ? 0 : 1;
                if (!room) continue;
                waiting.select(page);
                s = with;
            }
        }
    }
    RC_ASSERT(waiting.most() <= limit);
    RC_TAG(refused > 0);
}

// Layers share the limit: what one leaves another may take.
TEST(WaitingPages, AreOfAllLayersTogether) {
    WaitingPages waiting(3, 2, 4, 2);
    waiting.enter(3, 0);
    for (const int64_t page : {0, 1, 2}) waiting.select(page);
    EXPECT_FALSE(waiting.has_room(3));
    EXPECT_TRUE(waiting.has_room(1));  // it waits already
    waiting.enter(3, 1);
    EXPECT_FALSE(waiting.has_room(0));
    EXPECT_EQ(waiting.most(), 3);
}

}  // namespace
}  // namespace headroom
