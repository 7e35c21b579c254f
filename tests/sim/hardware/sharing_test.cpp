#include <gtest/gtest.h>

#include <set>

#include "hardware/hardware.h"

namespace headroom {
namespace {

TEST(Sharing, FollowsTheKindOfWork) {
    EXPECT_EQ(sharing_of(gemm(1, 1, 1)), Sharing::gemm);
    EXPECT_EQ(sharing_of(gemm_accumulate(1, 1, 1)), Sharing::gemm);
    EXPECT_EQ(sharing_of(attention(false, false, true, 8, 8, 1, 1, 8)), Sharing::attention);
    EXPECT_EQ(sharing_of(attention(true, true, false, 8, 8, 1, 1, 8)), Sharing::attention);
    EXPECT_EQ(sharing_of(memory_bound(1)), Sharing::memory);
    EXPECT_EQ(sharing_of(copy(WorkKind::peer, 1, 1)), Sharing::peer);
    EXPECT_EQ(sharing_of(disk(WorkKind::disk_write, 1)), Sharing::disk);
}

TEST(Sharing, OnlyAGatherTakesTheSms) {
    EXPECT_EQ(sharing_of(copy(WorkKind::copy_to_device, 1, 1, PageCopy::loop)), Sharing::to_device);
    EXPECT_EQ(sharing_of(copy(WorkKind::copy_to_device, 1, 1, PageCopy::batch)), Sharing::to_device);
    EXPECT_EQ(sharing_of(copy(WorkKind::copy_to_device, 1, 1, PageCopy::gather)), Sharing::to_device_gather);
    EXPECT_EQ(sharing_of(copy(WorkKind::copy_to_host, 1, 1, PageCopy::gather)), Sharing::to_host_gather);
}

TEST(Sharing, NoWorkIsIdle) {
    EXPECT_EQ(sharing_of(Work{}), Sharing::idle);
    EXPECT_EQ(sharing_of(memory_bound(0)), Sharing::idle);
    EXPECT_EQ(sharing_of(gemm(0, 5, 5, 1)), Sharing::gemm) << "the operand B is still read";
    EXPECT_EQ(sharing_of(collective(WorkKind::all_reduce, 100, 1)), Sharing::idle);
    EXPECT_EQ(sharing_of(collective(WorkKind::all_reduce, 100, 2)), Sharing::peer);
}

TEST(Sharing, EveryClassHasItsOwnName) {
    std::set<std::string_view> names;
    for (int i = 0; i < static_cast<int>(Sharing::count_); ++i)
        names.insert(name_of(static_cast<Sharing>(i)));
    EXPECT_EQ(names.size(), static_cast<size_t>(Sharing::count_));
    EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace headroom
