// Pipelines whose duration has a closed form, exact to the nanosecond.
#include "sim/simulate/program_maker.h"

namespace headroom {
namespace {

// n loads of `load` ns feed n computes of `compute` ns through `slots` slots: load i waits until compute i -
// slots has left its slot.
ProgramMaker pipeline(int64_t n, int64_t load, int64_t compute, int64_t slots) {
    ProgramMaker p;
    std::vector<OpId> computes;
    for (int64_t i = 0; i < n; ++i) {
        const OpId fetched =
            i < slots ? p.load(load) : p.load(load, {computes[static_cast<size_t>(i - slots)]});
        computes.push_back(p.gemm(compute, {fetched}));
    }
    return p;
}

struct Shape {
    int64_t n, load, compute, slots, duration;
};

class Pipeline : public testing::TestWithParam<Shape> {};

TEST_P(Pipeline, TakesWhatTheClosedFormSays) {
    const Shape& s = GetParam();
    const Simulation result = pipeline(s.n, s.load, s.compute, s.slots).simulation();
    EXPECT_EQ(result.duration_ns, s.duration);
    EXPECT_EQ(result.busy_ns[static_cast<size_t>(Stream::compute)], s.n * s.compute);
    EXPECT_EQ(result.busy_ns[static_cast<size_t>(Stream::to_device)], s.n * s.load);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Pipeline,
                         testing::Values(
                             // Two slots: a + (n - 1) max(a, b) + b.
                             Shape{1000, 7, 11, 2, 7 + 999 * 11 + 11},
                             Shape{1000, 11, 7, 2, 11 + 999 * 11 + 7}, Shape{1000, 9, 9, 2, 9 + 999 * 9 + 9},
                             Shape{1, 7, 11, 2, 18},
                             // More slots hide no more; one slot hides nothing: n (a + b).
                             Shape{1000, 7, 11, 5, 7 + 1000 * 11}, Shape{1000, 7, 11, 1, 1000 * 18},
                             // Loads that take no time.
                             Shape{1000, 0, 11, 2, 11000}));

TEST(PipelineBesideInterference, StretchesComputeByItsRate) {
    // A load that outlasts 100 GEMMs of 1000 ns at rate 0.82: each takes ceil(1000 / 0.82) = 1220 ns.
    ProgramMaker p;
    p.load(1'000'000);
    OpId last = kNone;
    for (int i = 0; i < 100; ++i) last = p.gemm(1000);
    EXPECT_EQ(p.simulation(copies_disturb(0.82)).end_ns[last], 122'000);
}

TEST(PipelineBesideInterference, FreesComputeWhenTheCopyEnds) {
    // 820 of 1000 ns of work are done when the copy ends at 1000; the rest runs at full rate. The rate 0.82
    // is rounded down to 859832 units of 2^-20, so one more nanosecond is needed.
    ProgramMaker p;
    p.load(1000);
    const OpId gemm = p.gemm(1000);
    EXPECT_EQ(p.simulation(copies_disturb(0.82)).end_ns[gemm], 1000 + 180 + 1);
    EXPECT_EQ(p.simulation(copies_disturb(0.5)).end_ns[gemm], 1500);
}

TEST(PipelineBesideInterference, SlowsComputeFromTheMomentTheCopyStarts) {
    ProgramMaker p;
    const OpId wait = p.op(Stream::disk, 400, Sharing::disk);
    p.load(10'000, {wait});
    const OpId gemm = p.gemm(1000);
    EXPECT_EQ(p.simulation(copies_disturb(0.5)).end_ns[gemm], 400 + 1200);
}

TEST(TwoDirections, ShareTheLinkWhileBothRun) {
    // 50 + 50 GB/s through 75: 3/4 each. The store of 300 ns takes 400; the load has then done 300 of its
    // 1000.
    Hardware h = quiet_machine();
    const Curve curve{{{1, 50e9}}};
    h.to_device = h.to_host = {curve, curve, curve};
    h.both_directions = 75e9;
    ProgramMaker p;
    const OpId load = p.load(1000), store = p.store(300);
    const Simulation result = p.simulation(h);
    EXPECT_EQ(result.end_ns[store], 400);
    EXPECT_EQ(result.end_ns[load], 1100);
}

}  // namespace
}  // namespace headroom
