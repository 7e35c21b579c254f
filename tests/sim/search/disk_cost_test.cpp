#include "search/disk_cost.h"

#include <gtest/gtest.h>

#include "sim/search/fixture.h"

namespace headroom {
namespace {

using namespace test;

Plan plan_with(const std::string& places) {
    return scenario_of(on_h200("Qwen2.5-7B", "64Ki", "strategy = \"chunked\"\nchunk = 4096\n" + places)).plan;
}

TEST(DiskCost, IsTheWaitAndTheSamePlanWithoutTheDisk) {
    const Plan plan = plan_with("kv = { disk_chunks = 8 }\nkv_gradients = { disk_chunks = 8 }"),
               on_host = plan_with("kv = \"host\"\nkv_gradients = \"host\"");
    const Result<Evaluation> e = evaluate(plan, true), there = evaluate(on_host, false);
    ASSERT_TRUE(e && there);
    const Result<std::optional<DiskCost>> cost = disk_cost(plan, *e);
    ASSERT_TRUE(cost && *cost);
    EXPECT_EQ((*cost)->step_ns, there->step_ns);
    EXPECT_EQ((*cost)->host_bytes, there->tiers[1].need_bytes);
    // 1.4 GB/s beside 50: the step waits for most of what goes over the disk, and never longer than it lasts.
    EXPECT_GT((*cost)->waits_ns, (e->step_ns - there->step_ns) / 2);
    EXPECT_LE((*cost)->waits_ns, e->statistics.streams[static_cast<size_t>(Stream::disk)].busy_ns);
    EXPECT_LT(there->step_ns, e->step_ns);
}

TEST(DiskCost, NoneWhereNoPagesAreThere) {
    const Plan plan = plan_with("kv = \"host\"");
    const Result<std::optional<DiskCost>> cost = disk_cost(plan, Evaluation{});
    ASSERT_TRUE(cost);
    EXPECT_FALSE(*cost);
}

}  // namespace
}  // namespace headroom
