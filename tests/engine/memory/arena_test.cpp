#include "memory/arena.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/memory/gpu.h"

namespace headroom {
namespace {

const at::Device kCpu{at::kCPU};

Arena cpu_arena(Tier tier, int64_t bytes) {
    return *Arena::allocate(tier, Bytes(bytes), kCpu);
}

TEST(Arena, ViewsLieAtTheirAddresses) {
    const Arena arena = cpu_arena(Tier::device, 4096);
    const at::Tensor view = *arena.view(512, {3, 5}, at::kFloat);
    EXPECT_EQ(view.data_ptr(), arena.data() + 512);
    EXPECT_EQ(view.sizes(), (std::vector<int64_t>{3, 5}));
    EXPECT_TRUE(view.is_contiguous());
    EXPECT_EQ(view.scalar_type(), at::kFloat);
    EXPECT_EQ(view.device(), kCpu);

    view.fill_(7.0);
    // The same memory under another type; nothing beside it was written.
    const at::Tensor bits = *arena.view(508, {17}, at::kInt);
    EXPECT_EQ(bits[0].item<int>(), 0);
    EXPECT_EQ(bits[1].item<int>(), 0x40E00000);
    EXPECT_EQ(bits[15].item<int>(), 0x40E00000);
    EXPECT_EQ(bits[16].item<int>(), 0);
}

TEST(Arena, BeginsAlignedAndZero) {
    for (const Tier tier : {Tier::device, Tier::host}) {
        const Arena arena = cpu_arena(tier, 5000);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.data()) % kAlignment, 0);
        EXPECT_EQ(arena.view(0, {5000}, at::kByte)->sum().item<int64_t>(), 0);
        EXPECT_EQ(arena.tier(), tier);
        EXPECT_EQ(arena.bytes(), Bytes(5000));
        EXPECT_FALSE(arena.is_pinned());
    }
}

TEST(Arena, ViewFitsToTheLastByteAndNoFurther) {
    const Arena arena = cpu_arena(Tier::host, 1024);
    EXPECT_TRUE(arena.view(0, {512}, at::kBFloat16));
    EXPECT_TRUE(arena.view(1022, {1}, at::kBFloat16));
    EXPECT_TRUE(arena.view(1024, {0, 8}, at::kBFloat16));
    EXPECT_EQ(arena.view(2, {512}, at::kBFloat16).error().text(),
              "the host arena: a tensor of 1024 bytes at address 2; allowed: 0 to 1024 bytes, addresses in "
              "multiples of 2");
    EXPECT_FALSE(arena.view(-2, {1}, at::kBFloat16));
    EXPECT_FALSE(arena.view(1, {1}, at::kBFloat16));
    EXPECT_FALSE(arena.view(0, {-1}, at::kBFloat16));
    EXPECT_FALSE(arena.view(1026, {0}, at::kBFloat16));
}

TEST(Arena, SizesThatOverflowAreErrors) {
    const Arena arena = cpu_arena(Tier::device, 1024);
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    EXPECT_FALSE(arena.view(0, {most, most}, at::kFloat));
    EXPECT_FALSE(arena.view(most - 3, {1}, at::kFloat));
}

TEST(Arena, WithoutBytesItHoldsEmptyTensors) {
    const Arena arena = cpu_arena(Tier::host, 0);
    EXPECT_EQ(arena.data(), nullptr);
    EXPECT_EQ(arena.view(0, {0, 4}, at::kFloat)->numel(), 0);
    EXPECT_FALSE(arena.view(0, {1}, at::kByte));
}

TEST(Arena, MovesWithItsMemory) {
    Arena first = cpu_arena(Tier::device, 64);
    const std::byte* data = first.data();
    Arena second = std::move(first);
    EXPECT_EQ(second.data(), data);
    first = cpu_arena(Tier::host, 32);
    std::swap(first, second);
    EXPECT_EQ(first.data(), data);
    EXPECT_EQ(first.bytes(), Bytes(64));
    EXPECT_EQ(second.tier(), Tier::host);
}

TEST(Arena, RefusesWhatItCannotBe) {
    EXPECT_EQ(Arena::allocate(Tier::disk, Bytes(1), kCpu).error().allowed, "device, host");
    EXPECT_EQ(Arena::allocate(Tier::host, Bytes(-1), kCpu).error().text(),
              "the host arena: -1 bytes; allowed: 0 or more bytes");
    EXPECT_EQ(Arena::allocate(Tier::device, Bytes(1), at::Device(at::kMeta)).error().allowed, "cpu, cuda");
}

TEST(Arena, MoreThanThereIsNamesTierAndBytes) {
    constexpr int64_t too_many = int64_t{1} << 60;
    const Result<Arena> arena = Arena::allocate(Tier::device, Bytes(too_many), kCpu);
    ASSERT_FALSE(arena);
    EXPECT_EQ(arena.error().fault, Fault::run_failed);
    EXPECT_EQ(arena.error().where, "the device arena");
    EXPECT_NE(arena.error().found.find("refuses " + std::to_string(too_many) + " bytes"), std::string::npos);
}

TEST(Arena, WithoutAGpuSaysSo) {
    if (gpu_count() > 0) GTEST_SKIP() << "this machine has a GPU";
    const Result<Arena> arena = Arena::allocate(Tier::device, Bytes(1024), at::Device(at::kCUDA, 0));
    ASSERT_FALSE(arena);
    EXPECT_EQ(arena.error().fault, Fault::run_failed);
    EXPECT_EQ(arena.error().where, "the device arena: cudaSetDevice(0)");
}

TEST(ArenaOnGpu, CopiesBetweenPinnedAndDevice) {
    if (gpu_count() == 0) GTEST_SKIP() << "this machine has no GPU";
    const at::Device gpu(at::kCUDA, 0);
    const Arena device = *Arena::allocate(Tier::device, Bytes(64 * kMiB), gpu);
    const Arena host = *Arena::allocate(Tier::host, Bytes(200 * kMiB), gpu);
    EXPECT_TRUE(host.is_pinned());
    const at::Tensor on_host = *host.view(512, {1000}, at::kLong);
    EXPECT_TRUE(on_host.device().is_cpu());
    on_host.copy_(at::arange(1000));
    const at::Tensor on_device = *device.view(1024, {1000}, at::kLong);
    EXPECT_EQ(on_device.device(), gpu);
    on_device.copy_(on_host, /*non_blocking=*/true);
    EXPECT_EQ(on_device.sum().item<int64_t>(), 499500);
}

TEST(ArenaOnGpu, MoreThanThereIsLeavesTheGpuUsable) {
    if (gpu_count() == 0) GTEST_SKIP() << "this machine has no GPU";
    const at::Device gpu(at::kCUDA, 0);
    const Result<Arena> arena = Arena::allocate(Tier::device, Bytes(kTiB), gpu);
    ASSERT_FALSE(arena);
    EXPECT_EQ(arena.error().where, "the device arena: cudaMalloc of 1099511627776 bytes");
    EXPECT_TRUE(Arena::allocate(Tier::device, Bytes(kMiB), gpu));
}

}  // namespace
}  // namespace headroom
