#include "search/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace headroom {
namespace {

using Jobs = std::vector<std::function<void()>>;

TEST(RunAll, RunsEachJobOnce) {
    std::vector<std::atomic<int>> runs(200);
    Jobs jobs;
    for (std::atomic<int>& r : runs) jobs.push_back([&r] { ++r; });
    EXPECT_TRUE(run_all(jobs, {}));
    for (const std::atomic<int>& r : runs) EXPECT_EQ(r, 1);
    EXPECT_TRUE(run_all({}, [](size_t) { return false; }));
}

TEST(RunAll, AsksInTheCallersThreadAndStops) {
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> runs = 0;
    Jobs jobs(100, [&] { ++runs; });
    int asked = 0;
    EXPECT_TRUE(run_all(jobs, [&](size_t i) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_LT(i, jobs.size());
        ++asked;
        return true;
    }));
    EXPECT_EQ(runs, 100);
    EXPECT_LE(asked, 100);
    // A job of the other thread may be in work; none is begun after it.
    runs = 0;
    Jobs slow(100, [&] {
        ++runs;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    EXPECT_FALSE(run_all(slow, [](size_t) { return false; }));
    EXPECT_LT(runs, 100);
}

TEST(RunAll, PassesAnExceptionOn) {
    for (const size_t thrower : {0, 1, 7}) {
        Jobs jobs(8, [] {});
        jobs[thrower] = [] { throw std::overflow_error("too large"); };
        EXPECT_THROW(run_all(jobs, {}), std::overflow_error) << thrower;
    }
}

}  // namespace
}  // namespace headroom
