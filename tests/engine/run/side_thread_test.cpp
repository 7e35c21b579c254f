#include "run/side_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace headroom::engine {
namespace {

TEST(SideThread, JobsRunInOrderOnAThreadOfTheirOwn) {
    std::vector<int> order;
    std::thread::id there;
    {
        SideThread side;
        for (int i = 0; i < 1000; ++i) {
            EXPECT_EQ(side.add([&, i] {
                order.push_back(i);
                there = std::this_thread::get_id();
            }),
                      i + 1);
        }
        side.drain();
        ASSERT_EQ(order.size(), 1000u);
        side.add([&] { order.push_back(1000); });
    }  // ends after the last job
    ASSERT_EQ(order.size(), 1001u);
    for (int i = 0; i <= 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
    EXPECT_NE(there, std::this_thread::get_id());
}

TEST(SideThread, WaitingForAJobDoesNotWaitForTheNext) {
    SideThread side;
    std::atomic<bool> go = false, first = false;
    const int64_t job = side.add([&] { first = true; });
    side.add([&] { go.wait(false); });
    side.wait_for(job);
    EXPECT_TRUE(first);
    go = true;
    go.notify_all();
    side.drain();
}

}  // namespace
}  // namespace headroom::engine
