#include "sim/simulate/program_maker.h"
#include "timeline/check.h"
#include "timeline/peaks.h"

namespace headroom {
namespace {

struct Step {
    Plan plan;
    Program program;
    Simulation simulation;
};

Step step() {
    ProgramMaker p;
    p.stand(1000, Tier::device, Category::weights);
    const OpId load = p.load(40), gemm = p.gemm(30), past = p.gemm(30, {load}),
               store = p.store(10, {load, past});
    p.take(load, 64, Tier::device, Category::staging);
    p.free(past, 64, Tier::device, Category::staging);
    p.take(gemm, 100);
    p.free(gemm, 100);
    p.take(store, 32, Tier::host, Category::kv);
    Step s;
    s.program = p.program();
    s.program.works[0] = copy(WorkKind::copy_to_device, 4096, 2);
    s.program.works[2] = gemm_accumulate(2, 3, 4);
    Op& op = s.program.ops[2];
    op.kind = OpKind::attention_past;
    op.pass = Pass::gradient;
    op.chunk = 3;
    op.layer = 7;
    op.piece = 2;
    op.sequence = 1;
    s.program.traffic.push_back({.chunk = 3, .layer = 7, .selected = 64});
    s.plan.hardware = copies_disturb(0.82);
    s.plan.hardware.name = "quiet";
    s.plan.budget = {Bytes(4096), Bytes(8192), Bytes(0)};
    s.simulation = p.simulation(s.plan.hardware, true);
    return s;
}

TEST(TimelineOf, CarriesOpsWaitsMemoryAndTraffic) {
    const Step s = step();
    const Timeline t = timeline_of(s.plan, s.program, s.simulation);
    EXPECT_TRUE(check_timeline(t, "timeline")) << check_timeline(t, "timeline").error().text();
    ASSERT_EQ(t.ops.size(), 4u);
    const TimelineOp& past = t.ops[2];
    EXPECT_EQ(past.start_ns, s.simulation.start_ns[2]);
    EXPECT_EQ(past.end_ns, s.simulation.end_ns[2]);
    EXPECT_EQ(past.kind, OpKind::attention_past);
    EXPECT_EQ(past.pass, Pass::gradient);
    EXPECT_EQ(past.chunk, 3u);
    EXPECT_EQ(past.layer, 7);
    EXPECT_EQ(past.piece, 2);
    EXPECT_EQ(past.sequence, 1);
    EXPECT_EQ(past.flops, 2 * 2 * 3 * 4);
    EXPECT_EQ(t.ops[0].bytes, 4096);
    EXPECT_EQ(t.waits_begin, (std::vector<uint32_t>{0, 0, 0, 1, 3}));
    EXPECT_EQ(t.waits, (std::vector<OpId>{0, 0, 2}));
    // What is live at the end is told once more there.
    std::vector<MemorySample> memory = s.simulation.memory;
    memory.push_back({80, 1000, Tier::device, Category::weights});
    memory.push_back({80, 32, Tier::host, Category::kv});
    EXPECT_EQ(t.memory, memory);
    EXPECT_EQ(s.simulation.duration_ns, 80);
    ASSERT_EQ(t.traffic.size(), 1u);
    EXPECT_EQ(t.traffic[0].selected, 64u);
}

TEST(TimelineOf, ItsCurveGivesThePeaksOfTheSimulation) {
    const Step s = step();
    const auto peaks = peaks_of(timeline_of(s.plan, s.program, s.simulation));
    for (size_t t = 0; t < kTiers; ++t) {
        EXPECT_EQ(peaks[t].bytes, s.simulation.peaks[t].bytes);
        EXPECT_EQ(peaks[t].time_ns, s.simulation.peaks[t].time_ns);
        EXPECT_EQ(peaks[t].op, s.simulation.peaks[t].op);
        EXPECT_EQ(peaks[t].by_category, s.simulation.peaks[t].by_category);
    }
}

TEST(TimelineOf, SaysWhereItsFiguresComeFrom) {
    Step s = step();
    s.plan.hardware.provenance = "datasheet";
    Timeline t = timeline_of(s.plan, s.program, s.simulation);
    EXPECT_EQ(t.source, "simulated");
    EXPECT_EQ(t.plan, write_plan(s.plan));
    EXPECT_EQ(t.plan_hash, plan_hash(s.plan));
    EXPECT_EQ(t.machine, "quiet");
    EXPECT_EQ(t.rates, "uncalibrated: datasheet");
    EXPECT_EQ(t.selection_source, "");
    EXPECT_EQ(t.date, "");
    EXPECT_EQ(t.capacity_bytes, (std::array<int64_t, kTiers>{4096, 8192, 0}));

    s.plan.hardware.calibrated = true;
    s.plan.hardware.provenance = "one H200";
    s.plan.decisions.attention.sparse = true;
    s.plan.selection.source = "assumed";
    t = timeline_of(s.plan, s.program, s.simulation);
    EXPECT_EQ(t.rates, "calibrated: one H200");
    EXPECT_EQ(t.selection_source, "assumed");

    auto recorded = std::make_shared<RecordedSelection>();
    recorded->source = "run of one H200";
    s.plan.selection.recorded = recorded;
    EXPECT_EQ(timeline_of(s.plan, s.program, s.simulation).selection_source, "run of one H200");
}

TEST(TimelineOf, EqualInputGivesEqualBytes) {
    const Step first = step(), second = step();
    EXPECT_EQ(format_timeline(timeline_of(first.plan, first.program, first.simulation)),
              format_timeline(timeline_of(second.plan, second.program, second.simulation)));
}

}  // namespace
}  // namespace headroom
