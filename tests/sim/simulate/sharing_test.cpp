#include "simulate/sharing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/simulate/program_maker.h"
#include "simulate/rate_table.h"

namespace headroom {
namespace {

constexpr auto kIdle = Sharing::idle;

Hardware link(double down, double up, double both) {
    Hardware h = quiet_machine();
    h.to_device.batch = {{{1, down / 4}, {1 << 20, down}}};
    h.to_device.gather = {{{1, down / 2}}};
    h.to_host.batch = h.to_host.gather = {{{1, up}}};
    h.both_directions = both;
    return h;
}

int64_t units(double share) {
    return std::llround(share * static_cast<double>(kRateOne));
}

TEST(Sharing, AloneEachClassRunsAtFullRate) {
    Hardware h = link(50e9, 50e9, 60e9);
    for (auto& row : h.interference) row.fill(0.5);
    for (size_t s = 0; s < kStreams; ++s) {
        for (size_t v = 0; v < static_cast<size_t>(Sharing::count_); ++v) {
            Running running{};
            running[s] = static_cast<Sharing>(v);
            for (const int64_t rate : solve_sharing(running, h)) EXPECT_EQ(rate, kRateOne);
        }
    }
}

TEST(Sharing, InterferenceOfSeveralMultiplies) {
    Hardware h = quiet_machine();
    auto& gemm = h.interference[static_cast<size_t>(Sharing::gemm)];
    gemm[static_cast<size_t>(Sharing::to_device)] = 0.5;
    gemm[static_cast<size_t>(Sharing::peer)] = 0.75;
    const Rates rates = solve_sharing({Sharing::gemm, Sharing::to_device, kIdle, Sharing::peer, kIdle}, h);
    EXPECT_EQ(rates, (Rates{units(0.375), kRateOne, kRateOne, kRateOne, kRateOne}));
}

TEST(Sharing, InterferenceHasADirection) {
    Hardware h = quiet_machine();
    h.interference[static_cast<size_t>(Sharing::to_device)][static_cast<size_t>(Sharing::gemm)] = 0.25;
    EXPECT_EQ(solve_sharing({Sharing::gemm, Sharing::to_device, kIdle, kIdle, kIdle}, h),
              (Rates{kRateOne, units(0.25), kRateOne, kRateOne, kRateOne}));
}

TEST(Sharing, BothDirectionsShareTheLinkByBandwidth) {
    // 60 + 40 GB/s through 80: each gets 80 % of its own.
    const Hardware h = link(60e9, 40e9, 80e9);
    EXPECT_EQ(solve_sharing({kIdle, Sharing::to_device, Sharing::to_host, kIdle, kIdle}, h),
              (Rates{kRateOne, units(0.8), units(0.8), kRateOne, kRateOne}));
}

TEST(Sharing, AWideLinkOrNoLimitSlowsNothing) {
    for (const double both : {100e9, 0.0}) {
        EXPECT_EQ(solve_sharing({kIdle, Sharing::to_device, Sharing::to_host, kIdle, kIdle},
                                link(60e9, 40e9, both)),
                  (Rates{kRateOne, kRateOne, kRateOne, kRateOne, kRateOne}));
    }
}

TEST(Sharing, GatherKernelsUseTheirOwnBandwidth) {
    // 30 (gather) + 40 through 35.
    EXPECT_EQ(solve_sharing({kIdle, Sharing::to_device_gather, Sharing::to_host, kIdle, kIdle},
                            link(60e9, 40e9, 35e9)),
              (Rates{kRateOne, units(0.5), units(0.5), kRateOne, kRateOne}));
}

TEST(Sharing, WhatOneDirectionCannotUseTheOtherGets) {
    // The load is held to 15 GB/s by a GEMM; of 50 + 50 through 60 the store then gets 45 instead of 30.
    Hardware h = link(50e9, 50e9, 60e9);
    h.interference[static_cast<size_t>(Sharing::to_device)][static_cast<size_t>(Sharing::gemm)] = 0.3;
    EXPECT_EQ(solve_sharing({Sharing::gemm, Sharing::to_device, Sharing::to_host, kIdle, kIdle}, h),
              (Rates{kRateOne, units(0.3), units(0.9), kRateOne, kRateOne}));
}

TEST(Sharing, EveryOpMovesHoweverSmallItsShare) {
    Hardware h = quiet_machine();
    h.interference[static_cast<size_t>(Sharing::gemm)][static_cast<size_t>(Sharing::to_device)] = 1e-12;
    EXPECT_EQ(solve_sharing({Sharing::gemm, Sharing::to_device, kIdle, kIdle, kIdle}, h)[0], 1);
}

TEST(RateTable, AgreesWithTheSolverOnEverySetOfClasses) {
    Hardware h = link(60e9, 40e9, 80e9);
    for (size_t v = 0; v < h.interference.size(); ++v)
        for (size_t a = 0; a < h.interference.size(); ++a)
            h.interference[v][a] = 1 / (1.0 + 0.01 * double(v * a));
    RateTable table(h);
    for (int round = 0; round < 2; ++round) {
        for (const Sharing compute : {kIdle, Sharing::gemm, Sharing::attention, Sharing::memory})
            for (const Sharing down : {kIdle, Sharing::to_device, Sharing::to_device_gather})
                for (const Sharing up : {kIdle, Sharing::to_host, Sharing::to_host_gather})
                    for (const Sharing peer : {kIdle, Sharing::peer})
                        for (const Sharing disk : {kIdle, Sharing::disk}) {
                            const Running running{compute, down, up, peer, disk};
                            RunningKey key = 0;
                            for (size_t s = 0; s < kStreams; ++s) key |= key_of(s, running[s]);
                            EXPECT_EQ(table.at(key), solve_sharing(running, h));
                        }
    }
}

}  // namespace
}  // namespace headroom
