#include "simulate/simulate.h"

#include "sim/simulate/program_maker.h"

namespace headroom {
namespace {

// One byte a nanosecond.
Hardware machine() {
    Hardware h = quiet_machine();
    h.device_bandwidth = 1e9;
    h.memory_efficiency = 1;
    h.dense_flops = 1e9;
    const Curve curve{{{1, 1e9}}};
    h.to_device = h.to_host = {curve, curve, curve};
    return h;
}

Program two_ops() {
    ProgramMaker p;
    const OpId load = p.load(0);
    p.gemm(0, {load});
    Program program = p.program();
    program.works[0] = copy(WorkKind::copy_to_device, 4000, 1);
    program.works[1] = memory_bound(700);
    return program;
}

TEST(Simulate, PricesEachWorkByTheCostModel) {
    const Hardware h = machine();
    const Program program = two_ops();
    const auto result = simulate(program, h);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->end_ns[0], duration_of(program.works[0], h).count());
    EXPECT_EQ(result->duration_ns, 4000 + 700);
}

TEST(Simulate, SlowsWorksByTheirClasses) {
    // Beside a copy memory-bound kernels run at half rate.
    Hardware h = machine();
    h.interference[static_cast<size_t>(Sharing::memory)][static_cast<size_t>(Sharing::to_device)] = 0.5;
    ProgramMaker p;
    p.load(0);
    p.gemm(0);
    Program program = p.program();
    program.works = {copy(WorkKind::copy_to_device, 4000, 1), memory_bound(700)};
    const auto result = simulate(program, h);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->end_ns[1], 1400);
}

TEST(Simulate, AMissingLinkIsAnErrorThatNamesTheWork) {
    Hardware h = machine();
    h.name = "no-disk";
    Program program = two_ops();
    program.works[0] = disk(WorkKind::disk_read, 4000);
    const auto result = simulate(program, h);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().text().find("disk_read) on no-disk"), std::string::npos)
        << result.error().text();
}

}  // namespace
}  // namespace headroom
