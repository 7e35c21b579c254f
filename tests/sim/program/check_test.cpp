// Each rule of a program, broken once.
#include "program/check.h"

#include "program/builder.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

// Two buffers that share an address at different times, a pool, one buffer of its own; compute and one copy.
Program good() {
    StepBuilder b;
    const BufferId x = b.scratch("x", Category::activations, 1000),
                   y = b.scratch("y", Category::activations, 1000);
    b.buffer("w", Tier::device, Category::weights, 1000);
    const PoolId pool = b.pool("pages", Tier::host, 512);
    const auto compute = [&](OpId wait = kNone) {
        return b.op(Stream::compute, OpKind::norm, b.work(memory_bound(1)), {wait});
    };
    const OpId first = compute();
    b.take(x, first);
    b.release(x, first);
    const OpId store = b.op(Stream::to_host, OpKind::store_pages, b.work(Work{}), {first});
    b.pool_take(pool, Category::kv, 1, store, first);
    const OpId second = compute(store);
    b.take(y, second);
    b.release(y, second);
    b.pool_free(pool, Category::kv, 1, second);
    return b.finish();
}

void expect_error(const Program& program, const std::string& part) {
    const Result<void> result = check_program(program);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().fault, Fault::run_failed);
    EXPECT_NE(result.error().text().find(part), std::string::npos) << result.error().text();
}

WaitGraph graph(size_t ops, const std::vector<std::pair<uint32_t, uint32_t>>& edges) {
    return WaitGraph(boost::edges_are_sorted, edges.begin(), edges.end(), static_cast<uint32_t>(ops),
                     static_cast<uint32_t>(edges.size()));
}

TEST(Check, AGoodProgramPasses) {
    const Program p = good();
    ASSERT_EQ(p.size(), 3u);
    ASSERT_EQ(p.buffers[0].address, p.buffers[1].address);
    const Result<void> ok = check_program(p);
    EXPECT_TRUE(ok) << ok.error().text();
}

TEST(Check, WaitsGoToLowerIdsOfOtherStreams) {
    Program p = good();
    p.waits = graph(3, {{1, 2}, {2, 1}});
    expect_error(p, "op 1 (store_pages): it waits for op 2");
    p.waits = graph(3, {{1, 0}, {2, 0}});
    expect_error(p, "op 2 (norm): it waits for op 0 of its own stream");
    p.waits = graph(2, {{1, 0}});
    expect_error(p, "2 vertices");
}

TEST(Check, OpsNameWorksThatExist) {
    Program p = good();
    p.ops[1].work = 9;
    expect_error(p, "op 1 (store_pages): work 9");
    p = good();
    p.ops[1].stream = Stream::count_;
    expect_error(p, "op 1");
}

TEST(Check, ChangesStandInOpOrder) {
    Program p = good();
    std::swap(p.changes[1], p.changes[2]);  // of op 0 and op 1
    expect_error(p, "ascending");
}

TEST(Check, LiveBytesNeverFallBelowZero) {
    Program p = good();
    p.changes.push_back({-1, 2, Tier::disk, Category::kv, true});
    expect_error(p, "-1 bytes of kv on the disk");
}

TEST(Check, EverythingTakenIsFreed) {
    Program p = good();
    p.changes.push_back({1, 2, Tier::device, Category::logits, true});
    expect_error(p, "the end of the step: 1 bytes of logits");
}

TEST(Check, LiveBytesFitTheArena) {
    Program p = good();
    for (Buffer& b : p.buffers) {
        if (b.tier == Tier::host) b.bytes = 0;
    }
    p.arena[1] = 0;
    expect_error(p, "512 bytes live on the host");
}

TEST(Check, AddressesLieInTheArena) {
    Program p = good();
    p.buffers[2].address = 512 * 100;
    expect_error(p, "'w'");
    p = good();
    p.buffers[2].address = 8;
    expect_error(p, "multiple of 512");
}

TEST(Check, AnAddressOfItsOwnIsNobodyElses) {
    Program p = good();
    p.buffers[2].address = p.buffers[0].address;
    expect_error(p, "another's too");
}

TEST(Check, LifetimesOfOneAddressFollowEachOther) {
    Program p = good();
    for (Lifetime& l : p.lifetimes) {
        if (l.buffer == 0) l.last = 2;  // x lives on while y is made
    }
    expect_error(p, "'x' may still be live");
}

TEST(Check, LifetimesAreOrderedByWaitsToo) {
    Program p = good();
    for (Lifetime& l : p.lifetimes) {
        if (l.buffer == 0) l.last = 1;  // until the store that op 2 waits for
    }
    EXPECT_TRUE(check_program(p));
    p.waits = graph(3, {{1, 0}});
    expect_error(p, "'x' may still be live");
}

TEST(Check, HappensBeforeIsTransitiveOverStreamsAndWaits) {
    StepBuilder b;
    const OpId a = b.op(Stream::compute, OpKind::norm, b.work(Work{}));
    const OpId load = b.op(Stream::to_device, OpKind::load_pages, b.work(Work{}), {a});
    const OpId later_load = b.op(Stream::to_device, OpKind::load_pages, b.work(Work{}));
    const OpId read = b.op(Stream::disk, OpKind::read_pages, b.work(Work{}), {later_load});
    const OpId beside = b.op(Stream::compute, OpKind::norm, b.work(Work{}));
    const Program p = b.finish();
    const HappensBefore before(p);
    EXPECT_TRUE(before(a, load));
    EXPECT_TRUE(before(load, later_load));
    EXPECT_TRUE(before(a, read));
    EXPECT_TRUE(before(a, beside));
    EXPECT_FALSE(before(load, beside));
    EXPECT_FALSE(before(read, a));
    EXPECT_FALSE(before(a, a));
}

}  // namespace
}  // namespace headroom::test
