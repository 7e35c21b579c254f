#include "program/stager.h"

#include "program/check.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

struct Items {
    Program program;
    std::vector<OpId> loads, uses;
};

Items emit(int64_t items, int64_t slots, int64_t prefetch) {
    StepBuilder b;
    Stager stager(b, "pages", Category::staging, 512, slots, prefetch);
    Items r;
    const uint32_t nothing = b.work(Work{});
    for (int64_t i = 0; i < items; ++i) {
        r.loads.push_back(stager.load(Stream::to_device, OpKind::load_pages, nothing));
        r.uses.push_back(b.op(Stream::compute, OpKind::norm, nothing, {r.loads.back()}));
        stager.used(r.uses.back());
    }
    r.program = b.finish();
    return r;
}

TEST(Stager, MakesItsSlots) {
    const Program p = emit(0, 3, 1).program;
    EXPECT_EQ(p.buffers.size(), 3u);
    EXPECT_EQ(p.standing[0][static_cast<size_t>(Category::staging)], 3 * 512);
}

RC_GTEST_PROP(Stager, ASlotIsFilledOnlyAfterItsLastUse, ()) {
    const int64_t slots = draw::in(1, 5), prefetch = draw::in(0, slots - 1), items = draw::in(1, 30);
    const Items r = emit(items, slots, prefetch);
    const HappensBefore before(r.program);
    for (int64_t i = 0; i < items; ++i) {
        const OpId load = r.loads[static_cast<size_t>(i)];
        if (i >= slots) RC_ASSERT(before(r.uses[static_cast<size_t>(i - slots)], load));
        // At most `prefetch` items ahead of the one in use, and not held back any longer than that.
        if (i > prefetch) RC_ASSERT(before(r.uses[static_cast<size_t>(i - 1 - prefetch)], load));
        if (i >= 1 && prefetch >= 1) RC_ASSERT(!before(r.uses[static_cast<size_t>(i - 1)], load));
    }
}

TEST(Stager, TheLastUseMayBeAStore) {
    StepBuilder b;
    Stager stager(b, "pages", Category::staging, 512, 1, 0);
    const uint32_t nothing = b.work(Work{});
    stager.load(Stream::to_device, OpKind::load_pages, nothing);
    const OpId store = b.op(Stream::to_host, OpKind::store_pages, nothing, {b.last_of(Stream::to_device)});
    stager.used(store);
    EXPECT_EQ(stager.free_after(), store);
    const OpId next = stager.load(Stream::to_device, OpKind::load_pages, nothing);
    const std::vector<OpId> waits = waits_of(b.finish(), next);
    EXPECT_EQ(std::count(waits.begin(), waits.end(), store), static_cast<long>(waits.size()));
    EXPECT_FALSE(waits.empty());
}

}  // namespace
}  // namespace headroom::test
