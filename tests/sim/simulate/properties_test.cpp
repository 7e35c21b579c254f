// What holds for every program, on programs drawn at random.
#include <gtest/gtest.h>
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>

#include "sim/simulate/program_maker.h"
#include "sim/simulate/simple_simulator.h"

namespace headroom {
namespace {

constexpr size_t kMostOps = 60;

Sharing class_on(Stream stream, int choice) {
    switch (stream) {
        case Stream::compute:
            return static_cast<Sharing>(static_cast<int>(Sharing::gemm) + choice % 3);
        case Stream::to_device:
            return choice % 2 != 0 ? Sharing::to_device : Sharing::to_device_gather;
        case Stream::to_host:
            return choice % 2 != 0 ? Sharing::to_host : Sharing::to_host_gather;
        case Stream::peer:
            return Sharing::peer;
        default:
            return Sharing::disk;
    }
}

// Streams, durations with many ties and zeros, up to three waits for earlier ops, memory taken and freed
// later.
ProgramMaker draw_program() {
    ProgramMaker p;
    const size_t ops = *rc::gen::inRange<size_t>(0, kMostOps);
    for (size_t i = 0; i < ops; ++i) {
        const auto stream = static_cast<Stream>(*rc::gen::inRange<int>(0, kStreams));
        const int64_t duration =
            *rc::gen::weightedOneOf<int64_t>({{1, rc::gen::just<int64_t>(0)},
                                              {4, rc::gen::inRange<int64_t>(1, 6)},
                                              {4, rc::gen::inRange<int64_t>(1, 100'000)}});
        const Sharing sharing = duration == 0 ? Sharing::idle : class_on(stream, *rc::gen::inRange(0, 6));
        std::vector<OpId> waits;
        for (int w = i == 0 ? 0 : *rc::gen::inRange(0, 4); w > 0; --w)
            waits.push_back(static_cast<OpId>(*rc::gen::inRange<size_t>(0, i)));
        const OpId op = p.op(stream, WorkCost{duration, sharing}, waits);
        const auto tier = static_cast<Tier>(*rc::gen::inRange<int>(0, kTiers));
        const auto category = static_cast<Category>(*rc::gen::inRange<int>(0, 3));
        const int64_t bytes = *rc::gen::inRange<int64_t>(1, 5);
        p.take(op, bytes, tier, category);
        if (*rc::gen::arbitrary<bool>()) p.free(op, bytes, tier, category);
    }
    return p;
}

Hardware draw_hardware() {
    Hardware h = quiet_machine();
    const auto share = rc::gen::map(rc::gen::inRange(1, 101), [](int percent) { return percent / 100.0; });
    for (auto& row : h.interference)
        for (double& rate : row) rate = *share;
    const auto curve = [&] { return Curve{{{1, 1e9 * *share}}}; };
    h.to_device = {curve(), curve(), curve()};
    h.to_host = {curve(), curve(), curve()};
    h.both_directions = 1.5e9 * *share;
    return h;
}

void expect_equal(const Simulation& a, const Simulation& b) {
    RC_ASSERT(a.start_ns == b.start_ns);
    RC_ASSERT(a.end_ns == b.end_ns);
    RC_ASSERT(a.duration_ns == b.duration_ns);
    RC_ASSERT(a.busy_ns == b.busy_ns);
    RC_ASSERT(a.memory == b.memory);
    for (size_t t = 0; t < kTiers; ++t) {
        RC_ASSERT(a.peaks[t].bytes == b.peaks[t].bytes);
        RC_ASSERT(a.peaks[t].time_ns == b.peaks[t].time_ns);
        RC_ASSERT(a.peaks[t].op == b.peaks[t].op);
        RC_ASSERT(a.peaks[t].by_category == b.peaks[t].by_category);
    }
}

RC_GTEST_PROP(Properties, EqualsTheSimpleSimulator, ()) {
    const ProgramMaker maker = draw_program();
    const Hardware hardware = draw_hardware();
    const Program program = maker.program();
    expect_equal(maker.simulation(hardware, true), SimpleSimulator(program, maker.costs(), hardware).run());
}

RC_GTEST_PROP(Properties, StreamsKeepOrderAndOpsTheirWaits, ()) {
    const ProgramMaker maker = draw_program();
    const Program program = maker.program();
    const Simulation result = maker.simulation(draw_hardware());
    std::array<int64_t, kStreams> free_at{}, busy{};
    for (OpId op = 0; op < program.size(); ++op) {
        const auto s = static_cast<size_t>(program.ops[op].stream);
        int64_t ready = free_at[s];
        const auto [begin, end] = adjacent_vertices(op, program.waits);
        for (auto w = begin; w != end; ++w) ready = std::max(ready, result.end_ns[*w]);
        RC_ASSERT(result.start_ns[op] == ready);
        const int64_t time = result.end_ns[op] - result.start_ns[op];
        RC_ASSERT(time >= maker.costs()[program.ops[op].work].duration_ns);
        free_at[s] = result.end_ns[op];
        busy[s] += time;
    }
    RC_ASSERT(busy == result.busy_ns);
    RC_ASSERT(result.duration_ns == *std::max_element(free_at.begin(), free_at.end()));
    for (const int64_t b : busy) RC_ASSERT(result.duration_ns >= b);
}

RC_GTEST_PROP(Properties, AQuietMachineRunsEveryOpInItsOwnTime, ()) {
    const ProgramMaker maker = draw_program();
    const Program program = maker.program();
    const Simulation result = maker.simulation();
    for (OpId op = 0; op < program.size(); ++op) {
        RC_ASSERT(result.end_ns[op] - result.start_ns[op] == maker.costs()[program.ops[op].work].duration_ns);
    }
}

}  // namespace
}  // namespace headroom
