#include "simulate/live_memory.h"

#include "sim/simulate/program_maker.h"
#include "timeline/peaks.h"

namespace headroom {
namespace {

constexpr auto kDevice = static_cast<size_t>(Tier::device);
constexpr auto kHost = static_cast<size_t>(Tier::host);

int64_t of(const Peak& peak, Category category) {
    return peak.by_category[static_cast<size_t>(category)];
}

TEST(LiveMemory, PeakIsExactAndSaysWhenWhoAndWhose) {
    ProgramMaker p;
    p.stand(1000, Tier::device, Category::weights);
    const OpId a = p.gemm(10), load = p.load(25), b = p.gemm(10), c = p.gemm(10);
    p.take(a, 100);
    p.free(b, 100);
    p.take(load, 30, Tier::device, Category::staging);
    p.take(b, 7, Tier::device, Category::logits);
    p.free(c, 7, Tier::device, Category::logits);
    const Peak peak = p.simulation().peaks[kDevice];
    EXPECT_EQ(peak.bytes, 1137);
    EXPECT_EQ(peak.time_ns, 10);
    EXPECT_EQ(peak.op, b);
    EXPECT_EQ(of(peak, Category::weights), 1000);
    EXPECT_EQ(of(peak, Category::activations), 100);
    EXPECT_EQ(of(peak, Category::staging), 30);
    EXPECT_EQ(of(peak, Category::logits), 7);
}

TEST(LiveMemory, WhatIsFreedAndTakenAtOnceCountsOnce) {
    ProgramMaker p;
    const OpId a = p.gemm(10), b = p.gemm(10);
    p.take(a, 100);
    p.free(a, 100);
    p.take(b, 60, Tier::device, Category::logits);
    EXPECT_EQ(p.simulation().peaks[kDevice].bytes, 100);
}

TEST(LiveMemory, OneNanosecondOfOverlapCounts) {
    for (const int64_t load : {10, 11}) {
        ProgramMaker p;
        const OpId staged = p.load(load), a = p.gemm(10), b = p.gemm(10);
        p.take(staged, 100, Tier::device, Category::staging);
        p.free(staged, 100, Tier::device, Category::staging);
        p.take(b, 60);
        EXPECT_EQ(p.simulation().peaks[kDevice].bytes, load == 10 ? 100 : 160);
        EXPECT_EQ(p.simulation().start_ns[b], p.simulation().end_ns[a]);
    }
}

TEST(LiveMemory, TheFirstOfEqualPeaksIsKept) {
    ProgramMaker p;
    for (int i = 0; i < 3; ++i) {
        const OpId op = p.gemm(10);
        p.take(op, 50);
        p.free(op, 50);
    }
    const Peak peak = p.simulation().peaks[kDevice];
    EXPECT_EQ(peak.time_ns, 0);
    EXPECT_EQ(peak.op, 0u);
}

TEST(LiveMemory, TiersAreCountedApart) {
    ProgramMaker p;
    const OpId store = p.store(10), gemm = p.gemm(5);
    p.take(store, 4096, Tier::host, Category::kv);
    p.take(gemm, 8, Tier::device, Category::kv);
    const auto peaks = p.simulation().peaks;
    EXPECT_EQ(peaks[kHost].bytes, 4096);
    EXPECT_EQ(peaks[kDevice].bytes, 8);
    EXPECT_EQ(peaks[static_cast<size_t>(Tier::disk)].bytes, 0);
}

TEST(LiveMemory, TheCurveHoldsOneSampleOfAnInstantAndCategory) {
    ProgramMaker p;
    p.stand(9, Tier::host, Category::kv);
    const OpId a = p.gemm(10), none = p.nothing(Stream::compute), b = p.gemm(10);
    p.take(a, 100);
    p.free(a, 100);
    p.take(none, 1, Tier::device, Category::logits);
    p.free(none, 1, Tier::device, Category::logits);
    p.take(b, 70);
    const std::vector<MemorySample> expected{{0, 100, Tier::device, Category::activations},
                                             {0, 9, Tier::host, Category::kv},
                                             {10, 70, Tier::device, Category::activations}};
    EXPECT_EQ(p.simulation(quiet_machine(), true).memory, expected);
    EXPECT_TRUE(p.simulation(quiet_machine(), false).memory.empty());
}

TEST(LiveMemory, FreeingWhatWasNotTakenIsAnError) {
    ProgramMaker p;
    p.gemm(10);
    const OpId op = p.gemm(10);
    p.free(op, 5, Tier::host, Category::kv);
    const auto result = p.run();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().fault, Fault::run_failed);
    EXPECT_NE(result.error().text().find("host memory of kv: -5 bytes at 20 ns"), std::string::npos)
        << result.error().text();
}

TEST(LiveMemory, ChangesOutOfOrderOrOfNoOpAreErrors) {
    ProgramMaker p;
    p.gemm(10);
    p.gemm(10);
    Program program = p.program();
    program.changes = {{1, 1, Tier::device, Category::kv, false}, {1, 0, Tier::device, Category::kv, false}};
    EXPECT_FALSE(LiveMemory::of(program, false));
    program.changes = {{1, 2, Tier::device, Category::kv, false}};
    EXPECT_FALSE(LiveMemory::of(program, false));
    program.changes = {{1, 0, Tier::count_, Category::kv, false}};
    EXPECT_FALSE(LiveMemory::of(program, false));
}

TEST(LiveMemory, SumsThatCouldWrapAreErrors) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    for (const auto& [bytes, fits] : {std::pair{kMost - 1, true}, {kMost, false}, {-kMost - 1, false}}) {
        ProgramMaker p;
        p.stand(1, Tier::device, Category::kv);
        p.take(p.gemm(1), bytes);
        EXPECT_EQ(LiveMemory::of(p.program(), false).has_value(), fits) << bytes;
    }
}

}  // namespace
}  // namespace headroom
