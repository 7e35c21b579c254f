#include "program/builder.h"

#include "program/check.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

OpId compute(StepBuilder& b) {
    return b.op(Stream::compute, OpKind::norm, b.work(memory_bound(1)));
}

int64_t overlap(const Program& p, BufferId a, BufferId b) {
    const Buffer &x = p.buffers[a], &y = p.buffers[b];
    return std::min(x.address + x.bytes, y.address + y.bytes) - std::max(x.address, y.address);
}

TEST(Builder, InternsWorks) {
    StepBuilder b;
    const uint32_t first = b.work(gemm(8, 8, 8));
    EXPECT_NE(b.work(gemm(8, 8, 16)), first);
    EXPECT_EQ(b.work(gemm(8, 8, 8)), first);
    EXPECT_EQ(b.finish().works.size(), 2u);
}

TEST(Builder, OpsStandWhereTheBuilderSays) {
    StepBuilder b;
    b.pass = Pass::gradient;
    b.chunk = 7;
    b.layer = 3;
    b.sequence = 1;
    const OpId id = b.op(Stream::disk, OpKind::read_pages, b.work(Work{}), {}, 5);
    EXPECT_EQ(b.last_of(Stream::disk), id);
    EXPECT_EQ(b.last_compute(), kNone);
    const Program p = b.finish();
    const Op& op = p.ops[id];
    EXPECT_EQ(op.pass, Pass::gradient);
    EXPECT_EQ(op.chunk, 7u);
    EXPECT_EQ(op.layer, 3);
    EXPECT_EQ(op.sequence, 1);
    EXPECT_EQ(op.piece, 5);
    EXPECT_EQ(op.kind, OpKind::read_pages);
}

TEST(Builder, DropsWaitsForTheOwnStreamAndForNothing) {
    StepBuilder b;
    const OpId a = compute(b);
    const OpId load = b.op(Stream::to_device, OpKind::load_pages, b.work(Work{}), {a, kNone});
    const OpId c = b.op(Stream::compute, OpKind::norm, b.work(Work{}), {load, a, kNone});
    const Program p = b.finish();
    EXPECT_TRUE(waits_of(p, a).empty());
    EXPECT_EQ(waits_of(p, load), std::vector<OpId>{a});
    EXPECT_EQ(waits_of(p, c), std::vector<OpId>{load});
}

TEST(Builder, BuffersOfNoBytesAreNone) {
    StepBuilder b;
    EXPECT_EQ(b.buffer("none", Tier::host, Category::kv, 0), kNone);
    EXPECT_EQ(b.scratch("none", Category::kv, 0), kNone);
    b.take(kNone, compute(b));
    b.release(kNone, b.last_compute());
    EXPECT_FALSE(b.live(kNone));
    EXPECT_TRUE(b.finish().buffers.empty());
}

TEST(Builder, OwnAddressesFollowEachOther) {
    StepBuilder b;
    const BufferId first = b.buffer("first", Tier::device, Category::weights, 700);
    const BufferId second = b.buffer("second", Tier::device, Category::weights, 100);
    const BufferId host = b.buffer("host", Tier::host, Category::optimizer, 100);
    const Program p = b.finish();
    EXPECT_EQ(p.buffers[first].address, 0);
    EXPECT_EQ(p.buffers[second].address, 1024);
    EXPECT_EQ(p.buffers[host].address, 0);
    EXPECT_EQ(p.arena, (std::array<int64_t, kTiers>{1536, 512, 0}));
    EXPECT_EQ(p.standing[0][static_cast<size_t>(Category::weights)], 800);
}

TEST(Builder, ScratchSharesItsPlaceWithWhatComesLater) {
    StepBuilder b;
    const BufferId x = b.scratch("x", Category::activations, 1000),
                   y = b.scratch("y", Category::activations, 600);
    const OpId first = compute(b);
    b.take(x, first);
    b.release(x, first);
    const OpId second = compute(b);
    b.take(y, second);
    b.release(y, second);
    const Program p = b.finish();
    EXPECT_EQ(p.buffers[x].address, p.buffers[y].address);
    EXPECT_EQ(p.arena[0], 1024);
}

// An op reads the one while it writes the other, in whatever order the two are named.
TEST(Builder, WhatAnOpReleasesAndWhatItTakesLieApart) {
    StepBuilder b;
    const BufferId x = b.scratch("x", Category::activations, 1000),
                   y = b.scratch("y", Category::activations, 600);
    b.take(x, compute(b));
    const OpId both = compute(b);
    b.release(x, both);
    b.take(y, both);
    b.release(y, compute(b));
    const Program p = b.finish();
    EXPECT_LE(overlap(p, x, y), 0);
    EXPECT_TRUE(check_program(p));
}

TEST(Builder, ScratchThatIsNeverTakenHasNoBytes) {
    StepBuilder b;
    const BufferId x = b.scratch("x", Category::activations, 1000);
    const Program p = b.finish();
    EXPECT_EQ(p.buffers[x].bytes, 0);
    EXPECT_EQ(p.arena[0], 0);
}

TEST(Builder, APoolIsAsLargeAsItsPeak) {
    StepBuilder b;
    const PoolId pool = b.pool("pages", Tier::device, 1024);
    const OpId first = compute(b);
    b.pool_take(pool, Category::kv, 3, first);
    b.pool_free(pool, Category::kv, 2, first);
    b.pool_take(pool, Category::kv_gradients, 2, compute(b));  // in place of the two
    b.pool_free(pool, Category::kv, 1, b.last_compute());
    b.pool_free(pool, Category::kv_gradients, 2, b.last_compute());
    const Program p = b.finish();
    EXPECT_EQ(p.arena[0], 3 * 1024);
    const Result<void> ok = check_program(p);
    EXPECT_TRUE(ok) << ok.error().text();
}

// Room, not pages: what lives is what was taken.
TEST(Builder, APoolHasRoomBesideWhatIsLive) {
    StepBuilder b;
    const PoolId pool = b.pool("pages", Tier::device, 1024);
    b.pool_spare(pool, 2);
    b.pool_take(pool, Category::kv, 1, compute(b));
    b.pool_spare(pool, 1);
    b.pool_take(pool, Category::kv_gradients, 3, compute(b));
    b.pool_free(pool, Category::kv, 1, b.last_compute());
    b.pool_free(pool, Category::kv_gradients, 3, b.last_compute());
    const Program p = b.finish();
    EXPECT_EQ(p.arena[0], (4 + 1) * 1024);
    int64_t taken = 0;
    for (const MemoryChange& c : p.changes) taken += std::max<int64_t>(0, c.bytes);
    EXPECT_EQ(taken, 4 * 1024);
}

TEST(Builder, PagesThatAnOpFreesAreNotForOneThatMayRunBeside) {
    StepBuilder b;
    const PoolId pool = b.pool("pages", Tier::host, 512);
    const OpId first = compute(b);
    b.pool_take(pool, Category::kv, 1, first);
    const OpId freeing = compute(b);
    b.pool_free(pool, Category::kv, 1, freeing);
    // Known to follow `first` alone: `freeing` may not be over.
    const OpId store = b.op(Stream::to_host, OpKind::store_pages, b.work(Work{}), {first});
    b.pool_take(pool, Category::kv, 1, store, first);
    b.pool_free(pool, Category::kv, 1, compute(b));
    EXPECT_EQ(b.finish().arena[1], 2 * 512);
}

// Takes and frees in every way that the contract allows: executed in any order that streams and waits allow,
// the live pages fit the pool, and scratch passes check_program().
RC_GTEST_PROP(Builder, PoolsFitWhateverOrderOpsRunIn, ()) {
    StepBuilder b;
    const PoolId pool = b.pool("pages", Tier::host, 512);
    std::vector<BufferId> scratch;
    for (int i = 0; i < 6; ++i)
        scratch.push_back(b.scratch("s" + std::to_string(i), Category::activations, draw::in(1, 3000)));
    std::vector<std::pair<int64_t, OpId>> held;  // pages, and the op that took them
    const auto free_one = [&] {
        const auto [pages, by] = held.front();
        held.erase(held.begin());
        b.pool_free(pool, Category::kv, pages, b.op(Stream::compute, OpKind::norm, b.work(Work{}), {by}));
    };
    const int64_t steps = draw::in(1, 40);
    for (int64_t i = 0; i < steps; ++i) {
        const OpId op = compute(b);
        const int64_t pages = draw::in(1, 4);
        const BufferId s =
            draw::of<BufferId>({scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]});
        switch (draw::in(0, 4)) {
            case 0:
                b.pool_take(pool, Category::kv, pages, op);
                held.emplace_back(pages, op);
                break;
            case 1: {
                const OpId store = b.op(Stream::to_host, OpKind::store_pages, b.work(Work{}), {op});
                b.pool_take(pool, Category::kv, pages, store, op);
                held.emplace_back(pages, store);
                break;
            }
            case 2:
                if (!held.empty()) free_one();
                break;
            default:
                if (b.live(s)) {
                    b.release(s, op);
                } else {
                    b.take(s, op);
                }
        }
    }
    while (!held.empty()) free_one();
    for (const BufferId s : scratch) {
        if (b.live(s)) b.release(s, b.last_compute());
    }
    const Program p = b.finish();
    const Result<void> ok = check_program(p);
    if (!ok) RC_FAIL(ok.error().text());

    // A random order of starts and ends.
    std::vector<bool> started(p.size()), ended(p.size());
    int64_t live = 0, running = 0;
    const auto change = [&](OpId op, bool at_end) {
        for (const MemoryChange& c : p.changes) {
            if (c.op == op && c.at_end == at_end && c.tier == Tier::host) live += c.bytes;
        }
        RC_ASSERT(live <= p.arena[1]);
    };
    const auto may_start = [&](OpId op) {
        for (OpId before = 0; before < op; ++before) {
            if (p.ops[before].stream == p.ops[op].stream && !ended[before]) return false;
        }
        for (const OpId w : waits_of(p, op)) {
            if (!ended[w]) return false;
        }
        return true;
    };
    for (size_t left = 2 * p.size(); left > 0; --left) {
        std::vector<std::pair<OpId, bool>> next;
        for (OpId op = 0; op < p.size(); ++op) {
            if (!started[op] && may_start(op)) next.emplace_back(op, false);
            if (started[op] && !ended[op]) next.emplace_back(op, true);
        }
        const auto [op, at_end] =
            next[static_cast<size_t>(draw::in(0, static_cast<int64_t>(next.size()) - 1))];
        (at_end ? ended : started)[op] = true;
        running += at_end ? -1 : 1;
        change(op, at_end);
    }
    RC_ASSERT(live == 0 && running == 0);
}

}  // namespace
}  // namespace headroom::test
