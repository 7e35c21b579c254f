#include <gtest/gtest.h>

#include <vector>

#include "shipped.h"

namespace headroom {
namespace {

using test::round_machine;

TEST(Duration, AKernelIsItsLaunchAndTheSlowerOfArithmeticAndMemory) {
    const Hardware h = round_machine();
    // 2e9 FLOPs at 1 TFLOP/s; its 6 MB would take 12 us.
    EXPECT_EQ(duration_of(gemm(1000, 1000, 1000), h), Nanoseconds(1000 + 2'000'000));
    // 2e6 FLOPs would take 2 us; 4,004,000 bytes at 0.5 TB/s take 8,008 ns.
    EXPECT_EQ(duration_of(gemm(1, 1000, 1000), h),
              Nanoseconds(1000 + (2 * (1000 + 1000 * 1000 + 1000)) / 500));
    EXPECT_EQ(duration_of(memory_bound(500'000), h), Nanoseconds(1000 + 1000));
}

TEST(Duration, TheRateFollowsTheShape) {
    Hardware h = round_machine();
    h.gemm = {1e-12, 1e-10, 2e-10, 3e-10};
    const double rate = 1e-12 + 1e-10 / 100 + 2e-10 / 200 + 3e-10 / 400;
    EXPECT_EQ(duration_of(gemm(100, 200, 400), h).count(),
              static_cast<int64_t>(1000 + 16e6 * rate * 1e9 + 0.5));
}

TEST(Duration, EveryCallPaysItsLatency) {
    Hardware h = round_machine();
    h.gemm.latency = 3e-6;
    const Nanoseconds once = duration_of(gemm(1000, 1000, 1000), h);
    EXPECT_EQ(once, Nanoseconds(1000 + 3000 + 2'000'000));
    EXPECT_EQ(duration_of(gemm(1000, 1000, 1000, 5), h), Nanoseconds(5 * once.count()));
}

TEST(Duration, AttentionPaysForItsExponentialsAndItsKeys) {
    Hardware h = round_machine();
    h.attention_forward = h.attention_forward_causal = {};
    h.attention_forward.per_pair = 1e-9;
    h.attention_forward.pair_by_n = 1e-6;
    // No head is so small that its products take none of the time: 2 FLOPs a ns.
    const double pairs = 100 * 1000 * 4;
    EXPECT_EQ(duration_of(attention(false, false, false, 100, 1000, 4, 2, 8), h).count(),
              static_cast<int64_t>(1000 + pairs * (1 + 1e3 / 1000) + 0.5));
    h.attention_forward_causal.per_key = 1e-6;
    h.attention_forward_causal.per_key_and_dim = 1e-8;
    EXPECT_EQ(duration_of(attention(false, false, true, 100, 1000, 4, 2, 8), h).count(),
              static_cast<int64_t>(1000 + 1000 * (1e3 + 8 * 10) + 0.5));
}

// Beyond the longest causal call that was measured each visible score takes as long as in that one.
TEST(Duration, ACausalCallLongerThanMeasuredIsNoMoreEfficient) {
    Hardware h = round_machine();
    RateFit& r = h.attention_forward_causal;
    r.per_flop = 1e-12;
    r.by_n = 1e-9, r.pair_by_n = 1e-7, r.per_key = 1e-6, r.per_key_and_dim = 1e-8;
    // `seen`: scores of all queries, 0: the whole triangle.
    const auto ns = [&](int64_t n, int64_t seen = 0) {
        return static_cast<double>((duration_of(attention(false, false, true, n, n, 4, 2, 64, 1, seen), h) -
                                    Nanoseconds(h.launch_ns))
                                       .count());
    };
    const auto per_score = [&](int64_t n) {
        return ns(n) / (static_cast<double>(n) * static_cast<double>(n + 1) / 2);
    };
    const double free = per_score(16384), shorter = ns(512), windowed = ns(16384, 16384 * 256);
    r.measured_keys = 1024;
    EXPECT_NEAR(per_score(2048), per_score(1024), 1e-3 * per_score(1024));
    EXPECT_NEAR(per_score(16384), per_score(1024), 1e-3 * per_score(1024));
    EXPECT_GT(per_score(16384), 1.05 * free);
    EXPECT_EQ(ns(512), shorter);
    // 256 keys a query: as in a triangle of 512.
    EXPECT_EQ(ns(16384, 16384 * 256), windowed);
}

TEST(Duration, TilesRunInWholeWaves) {
    Hardware h = round_machine();
    h.multiprocessors = 10;
    const auto ns = [&](bool backward, int64_t queries, int64_t keys) {
        return duration_of(attention(backward, false, false, queries, keys, 4, 2, 64), h).count() -
               h.launch_ns;
    };
    const auto of = [](double products, double queries, double keys) {
        return static_cast<int64_t>(products * queries * keys * 4 * 64 / 1000 + 0.5);
    };
    // Forward: 4 heads of 5 tiles are 2 waves, of 6 or 7 tiles 3, which is 7.5 tiles a head.
    EXPECT_EQ(ns(false, 640, 4096), of(4, 640, 4096));
    EXPECT_EQ(ns(false, 641, 4096), of(4, 960, 4096));
    EXPECT_EQ(ns(false, 896, 4096), of(4, 960, 4096));
    EXPECT_EQ(ns(false, 897, 4096), of(4, 1280, 4096));
    // Backward: tiles of keys of a KV head.
    EXPECT_EQ(ns(true, 512, 1280), of(10, 512, 1280));
    EXPECT_EQ(ns(true, 512, 1281), of(10, 512, 1920));
    // Causal tiles differ in length: no waves.
    h.multiprocessors = 1;
    const auto causal = [&] { return duration_of(attention(false, false, true, 650, 650, 3, 1, 64), h); };
    const Nanoseconds one = causal();
    h.multiprocessors = 10;
    EXPECT_EQ(causal(), one);
}

TEST(Duration, TilesOfAGemmRunInWholeWavesAsLongAsTheLibraryKnowsNoBetter) {
    Hardware h = round_machine();
    h.multiprocessors = 4;
    const auto waves = [&](int64_t m, int64_t n) {
        const double ns = 2.0 * static_cast<double>(m) * static_cast<double>(n) * 4096 / 1000;
        return static_cast<double>(duration_of(gemm(m, n, 4096), h).count() - h.launch_ns) / ns;
    };
    EXPECT_NEAR(waves(512, 2048), 1, 1e-6) << "32 tiles";
    // 33 tiles of 128 x 256 either way round, 9 waves; 66 tiles of 128 x 128 are 17.
    EXPECT_NEAR(waves(11 * 128, 3 * 256), 1.05 * 17 * 4 / 66, 1e-6);
    // 18 tiles, or 36: 9 full waves.
    EXPECT_NEAR(waves(9 * 128, 2 * 256), 1.05, 1e-6);
    EXPECT_NEAR(waves(128, 5 * 256), 1.12, 1e-6) << "5 tiles in 2 waves, 10 in 3: the depth is split";
    const Work work = gemm_accumulate(128, 5 * 256, 4096);
    EXPECT_EQ(duration_of(work, h).count() - h.launch_ns, work.flops / 1000);
}

TEST(Duration, BlocksRunAtOnceWithAFactorOfTheirOwnAndPackFirst) {
    Hardware h = round_machine();
    h.attention_backward.blocks = 1.5;
    const Work one = attention(true, false, false, 512, 4096, 4, 2, 64);
    Work blocks = block_attention(true, false, 128, 4096, 4, 2, 64, 4);
    EXPECT_EQ(blocks.flops, one.flops);
    const auto ns = [&](const Work& w) {
        return static_cast<double>(duration_of(w, h).count() - h.launch_ns);
    };
    EXPECT_NEAR(ns(blocks), ns(one) * 1.5, 1.5);
    const double before = ns(blocks);
    h.kernels[static_cast<size_t>(Kernel::pack_queries)].efficiency = 0.25;
    blocks.packed = packed_bytes(512, 4, 64, 2);
    EXPECT_NEAR(ns(blocks), before + 2 * 3 * 512 * 4 * 64 * 2 / 250.0, 1);
}

TEST(Duration, MemoryBoundKernelsHaveConstantsOfTheirOwn) {
    Hardware h = round_machine();
    h.kernels[static_cast<size_t>(Kernel::norm)] = {2e-6, 0.25, 3e-9};
    EXPECT_EQ(duration_of(memory_bound(500'000, Kernel::norm, 100), h),
              Nanoseconds(1000 + 2000 + 2000 + 300));
    EXPECT_EQ(duration_of(memory_bound(500'000, Kernel::zero, 100), h), Nanoseconds(1000 + 1000));
    h.kernels[static_cast<size_t>(Kernel::zero)].latency = 4e-6;
    EXPECT_EQ(duration_of(memory_bound(500'000, Kernel::zero, 100), h), Nanoseconds(1000 + 4000 + 1000));
}

TEST(Duration, NothingRunsAboveTheDenseRate) {
    Hardware h = round_machine();
    h.gemm = {1e-15, 0, 0, 0};
    EXPECT_EQ(duration_of(gemm(1000, 1000, 1000), h), Nanoseconds(1000 + 1'000'000));
}

TEST(Duration, CausalAndBackwardHaveTheirOwnRows) {
    Hardware h = round_machine();
    h.attention_forward_causal.per_flop = 2e-12;
    h.attention_backward.per_flop = 3e-12;
    h.attention_backward_causal.per_flop = 4e-12;
    const auto time = [&](bool backward, bool deterministic, bool causal) {
        const Work w = attention(backward, deterministic, causal, 512, 512, 8, 8, 64);
        // The slowdown is of the whole call, launch included.
        const double factor = deterministic ? h.deterministic_slowdown : 1;
        const double us =
            (static_cast<double>(duration_of(w, h).count()) - factor * static_cast<double>(h.launch_ns)) /
            1e3;
        return us * 1e6 / static_cast<double>(w.flops);
    };
    EXPECT_NEAR(time(false, false, false), 1, 1e-5);
    EXPECT_NEAR(time(false, false, true), 2, 1e-5);
    EXPECT_NEAR(time(true, false, false), 3, 1e-5);
    EXPECT_NEAR(time(true, false, true), 4, 1e-5);
    EXPECT_NEAR(time(true, true, true), 5, 1e-5);
}

TEST(Duration, CopiesFollowTheCurvePerPiece) {
    const Hardware h = round_machine();
    const auto ns = [&](int64_t bytes, int64_t pieces) {
        return duration_of(copy(WorkKind::copy_to_device, bytes, pieces), h).count();
    };
    EXPECT_EQ(ns(1000, 1), 4000);
    EXPECT_EQ(ns(2000, 1), 6000);
    EXPECT_EQ(ns(4000, 1), 8000);
    EXPECT_EQ(ns(1500, 1), 5000) << "linear between points";
    EXPECT_EQ(ns(3000, 1), 7000);
    EXPECT_EQ(ns(10, 1), 4000) << "below the first point";
    EXPECT_EQ(ns(8000, 1), 12000) << "the last slope";
    EXPECT_EQ(ns(8000, 4), 4 * 6000);
}

TEST(Duration, OnePointIsABandwidthWithALeastTime) {
    Hardware h = round_machine();
    h.to_device.batch.points = {{1000, 1e9}};
    EXPECT_EQ(duration_of(copy(WorkKind::copy_to_device, 10, 1), h), Nanoseconds(1000));
    EXPECT_EQ(duration_of(copy(WorkKind::copy_to_device, 5000, 1), h), Nanoseconds(5000));
}

TEST(Duration, CollectivesAreRings) {
    const Hardware h = round_machine();  // 1 byte a nanosecond, 500 ns a step
    EXPECT_EQ(duration_of(collective(WorkKind::all_reduce, 4000, 4), h), Nanoseconds(6 * 500 + 6000));
    EXPECT_EQ(duration_of(collective(WorkKind::all_gather, 4000, 4), h), Nanoseconds(3 * 500 + 3000));
    EXPECT_EQ(duration_of(collective(WorkKind::reduce_scatter, 4000, 4), h), Nanoseconds(3 * 500 + 3000));
    EXPECT_EQ(duration_of(copy(WorkKind::peer, 4000, 1), h), Nanoseconds(500 + 4000));
}

TEST(Duration, DiskHasNoLaunch) {
    const Hardware h = round_machine();
    EXPECT_EQ(duration_of(disk(WorkKind::disk_read, 4000), h), Nanoseconds(2000));
    EXPECT_EQ(duration_of(disk(WorkKind::disk_write, 4000), h), Nanoseconds(4000));
}

TEST(Duration, NoWorkTakesNoTimeAndAnyWorkTakesSome) {
    const Hardware h = round_machine();
    EXPECT_EQ(duration_of(Work{}, h), Nanoseconds(0));
    EXPECT_EQ(duration_of(copy(WorkKind::copy_to_host, 0, 0), h), Nanoseconds(0));
    EXPECT_EQ(duration_of(collective(WorkKind::all_reduce, 4000, 1), h), Nanoseconds(0));
    EXPECT_EQ(duration_of(disk(WorkKind::disk_read, 1), h), Nanoseconds(1));
}

TEST(Duration, WhatNeverEndsIsAnOverflow) {
    Hardware h = round_machine();
    h.peer_bandwidth = 0;
    EXPECT_THROW(duration_of(copy(WorkKind::peer, 1, 1), h), Overflow);
    EXPECT_THROW(duration_of(disk(WorkKind::disk_write, INT64_MAX), h), Overflow);
}

// docs/cost-model.md; the MiB that cuDNN asked for, 0.44 MiB above the whole number.
TEST(Workspace, IsWhatTheLibraryAskedFor) {
    struct Row {
        int64_t queries, keys, heads;
        bool packed;
        double mib, deterministic_mib;
    };
    const std::vector<Row> rows = {{4096, 8192, 28, false, 168, 1904},   {28672, 8192, 4, true, 56, 1792},
                                   {4096, 4096, 28, false, 112, 952},    {4096, 12288, 28, false, 224, 2856},
                                   {4096, 65536, 28, false, 952, 15232}, {32 * 896, 8192, 4, true, 56, 1792}};
    for (const Row& r : rows) {
        const auto mib = [&](bool deterministic) {
            const Bytes bytes = attention_workspace(r.queries, r.keys, r.heads, 128, deterministic, r.packed);
            return static_cast<double>(bytes.count()) / static_cast<double>(kMiB);
        };
        EXPECT_NEAR(mib(false), r.mib + 0.44, 0.005) << r.queries << " x " << r.keys;
        EXPECT_NEAR(mib(true), r.deterministic_mib + 0.44, 0.005) << r.queries << " x " << r.keys;
    }
}

TEST(Workspace, AbsurdShapesOverflow) {
    EXPECT_THROW(attention_workspace(INT64_MAX / 2, 8192, 28, 128, true, true), Overflow);
}

}  // namespace
}  // namespace headroom
