#include "simulate/execute.h"

#include "sim/simulate/program_maker.h"
#include "simulate/sharing.h"

namespace headroom {
namespace {

TEST(Execute, AnEmptyProgramTakesNoTime) {
    ProgramMaker p;
    p.stand(100, Tier::host, Category::kv);
    const Simulation result = p.simulation();
    EXPECT_EQ(result.duration_ns, 0);
    EXPECT_EQ(result.peaks[static_cast<size_t>(Tier::host)].bytes, 100);
}

TEST(Execute, AStreamRunsItsOpsOneAfterTheOther) {
    ProgramMaker p;
    p.gemm(5);
    p.gemm(7);
    const Simulation result = p.simulation();
    EXPECT_EQ(result.start_ns, (std::vector<int64_t>{0, 5}));
    EXPECT_EQ(result.end_ns, (std::vector<int64_t>{5, 12}));
    EXPECT_EQ(result.duration_ns, 12);
}

TEST(Execute, AnOpIsReadyWhenItsLastWaitEndsAndNotBefore) {
    for (const int64_t late : {99, 100, 101}) {
        ProgramMaker p;
        const OpId load = p.load(100), read = p.op(Stream::disk, late, Sharing::disk);
        const OpId gemm = p.gemm(1, {load, read});
        EXPECT_EQ(p.simulation().start_ns[gemm], std::max<int64_t>(100, late));
    }
}

TEST(Execute, AnOpBehindAHeldUpOpWaitsToo) {
    ProgramMaker p;
    const OpId load = p.load(100);
    p.gemm(10, {load});
    const OpId free = p.gemm(10);
    EXPECT_EQ(p.simulation().start_ns[free], 110);
}

TEST(Execute, OpsThatEndTogetherLetTheirFollowersStartTogether) {
    ProgramMaker p;
    const OpId load = p.load(50), gemm = p.gemm(50);
    const OpId store = p.store(5, {load, gemm}), next = p.gemm(5, {load});
    const Simulation result = p.simulation();
    EXPECT_EQ(result.start_ns[store], 50);
    EXPECT_EQ(result.start_ns[next], 50);
    EXPECT_EQ(result.duration_ns, 55);
}

TEST(Execute, OpsWithoutWorkEndAtOnceAndLetOthersGoOn) {
    // A chain of empty ops over all streams, up and down, ends within one instant.
    ProgramMaker p;
    OpId last = p.gemm(10);
    for (const size_t s : {4, 3, 2, 1, 0, 1, 3, 2, 4}) last = p.nothing(static_cast<Stream>(s), {last});
    const OpId gemm = p.gemm(5, {last});
    const Simulation result = p.simulation();
    EXPECT_EQ(result.start_ns[last], 10);
    EXPECT_EQ(result.end_ns[last], 10);
    EXPECT_EQ(result.start_ns[gemm], 10);
    EXPECT_EQ(result.duration_ns, 15);
}

TEST(Execute, OpsWithoutWorkDisturbNobody) {
    ProgramMaker p;
    p.nothing(Stream::to_device);
    const OpId gemm = p.gemm(1000);
    EXPECT_EQ(p.simulation(copies_disturb(0.5)).end_ns[gemm], 1000);
}

TEST(Execute, TheLongestOpRunsAtTheLowestRate) {
    // The load ends first; until then the GEMM has done 2^-20 of each nanosecond.
    ProgramMaker p;
    const OpId load = p.load(kLongestOp - 1), gemm = p.gemm(kLongestOp - 1);
    const Simulation result = p.simulation(copies_disturb(1e-12));
    EXPECT_EQ(result.end_ns[load], kLongestOp - 1);
    const int64_t done = (kLongestOp - 1) / kRateOne;  // whole ns of work, 2^23 - 1 and a rest
    EXPECT_EQ(result.end_ns[gemm], 2 * (kLongestOp - 1) - done);
}

TEST(Execute, AnOpTooLongIsAnError) {
    ProgramMaker p;
    p.gemm(kLongestOp);
    const auto result = p.run();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().fault, Fault::bad_input);
    EXPECT_NE(result.error().text().find("8796093022208 ns"), std::string::npos) << result.error().text();
}

TEST(Execute, AStepTooLongIsAnError) {
    // Two ops that slow each other to 2^-20 for ever.
    Hardware h = quiet_machine();
    for (auto& row : h.interference) row.fill(0);
    ProgramMaker p;
    p.load(kLongestOp - 1);
    p.gemm(kLongestOp - 1);
    const auto result = p.run(h);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().fault, Fault::bad_input);
    EXPECT_NE(result.error().text().find("36 years"), std::string::npos) << result.error().text();
}

TEST(Execute, AWaitForALaterOpIsAnErrorThatNamesIt) {
    ProgramMaker p;
    p.gemm(5);
    p.gemm(5, {3});
    p.store(5, {1});
    p.load(5);
    const auto result = p.run();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().fault, Fault::run_failed);
    EXPECT_NE(result.error().text().find("op 1 "), std::string::npos) << result.error().text();
    EXPECT_NE(result.error().text().find("waits for op 3"), std::string::npos) << result.error().text();
}

TEST(Execute, AnOpOfNoWorkOrStreamIsAnError) {
    ProgramMaker p;
    p.gemm(5);
    Program program = p.program();
    program.ops[0].work = 1;
    EXPECT_FALSE(execute(program, p.costs(), quiet_machine()));
    program = p.program();
    program.ops[0].stream = Stream::count_;
    EXPECT_FALSE(execute(program, p.costs(), quiet_machine()));
    program = p.program();
    program.waits = WaitGraph();
    EXPECT_FALSE(execute(program, p.costs(), quiet_machine()));
}

TEST(Execute, ProgressIsToldEveryMillionOpsAndCanStop) {
    ProgramMaker p;
    p.gemm(1);
    Program program = p.program();
    program.ops.resize(2'500'000, program.ops[0]);
    const std::vector<std::pair<uint32_t, uint32_t>> none;
    program.waits = WaitGraph(boost::edges_are_sorted, none.begin(), none.end(), 2'500'000u, 0u);
    std::vector<double> shares;
    SimulateOptions options;
    options.progress = [&](double share) {
        shares.push_back(share);
        return true;
    };
    const auto whole = execute(program, p.costs(), quiet_machine(), options);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->duration_ns, 2'500'000);
    EXPECT_EQ(shares, (std::vector<double>{0.4, 0.8}));

    options.progress = [](double) { return false; };
    const auto stopped = execute(program, p.costs(), quiet_machine(), options);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().fault, Fault::interrupted);
}

}  // namespace
}  // namespace headroom
