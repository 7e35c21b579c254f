#include "program/ring.h"

#include "program/check.h"
#include "program/chunk_step.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

Plan ring_plan(int64_t ranks) {
    Plan p = tiny_plan(1, 128, 120);
    p.decisions.strategy = "ring";
    p.gpus = p.decisions.ring_ranks = ranks;
    return p;
}

TEST(Ring, BytesOverThePeerLink) {
    for (const int64_t ranks : {2, 3, 4}) {
        const Plan plan = ring_plan(ranks);
        const Program p = chunk_step(plan, {});
        const int64_t keys = ceil_div(120, ranks);
        const int64_t kv = 2 * keys * 32 * 2, sums = 2 * keys * 32 * 4;
        // Forward: K and V past R - 1 ranks. Backward: again, the sums with them and once more to their
        // owner.
        EXPECT_EQ(bytes_of_kind(p, OpKind::send_pages), 3 * ((ranks - 1) * 2 * kv + ranks * sums)) << ranks;
        const Result<void> ok = check_program(p);
        EXPECT_TRUE(ok) << ok.error().text();
    }
}

TEST(Ring, RanksTogetherSeeTheTrianglesBelowTheDiagonal) {
    const int64_t ranks = 4, keys = 30;
    const Program p = chunk_step(ring_plan(ranks), {});
    const double past = flops_of(p, [](const Op& op) { return op.kind == OpKind::attention_past; });
    // R (R - 1) / 2 blocks of T x T pairs over all ranks; 4 x q size FLOPs a pair; 3 layers.
    EXPECT_EQ(past * ranks, 3.0 * 4 * 64 * (ranks * (ranks - 1) / 2) * keys * keys);
}

TEST(Ring, ASlotIsReceivedIntoAfterItsLastUse) {
    const Program p = chunk_step(ring_plan(4), {});
    const HappensBefore before(p);
    std::vector<OpId> sends, uses;
    for (OpId id = 0; id < p.size(); ++id) {
        const Op& op = p.ops[id];
        if (op.layer != 0 || op.pass != Pass::gradient) continue;
        if (op.kind == OpKind::attention_past) uses.push_back(id);
        if (op.kind == OpKind::send_pages && sends.size() < 3) sends.push_back(id);
    }
    ASSERT_EQ(sends.size(), 3u);
    ASSERT_EQ(uses.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(before(sends[i], uses[i]));
    EXPECT_TRUE(before(uses[0], sends[2]));   // two slots
    EXPECT_FALSE(before(uses[1], sends[2]));  // and K and V pass on while attention runs
}

TEST(Ring, OneRankSendsNothing) {
    const Program p = chunk_step(tiny_plan(1, 128, 120), {});
    EXPECT_EQ(count_ops(p, [](const Op& op) { return op.stream == Stream::peer; }), 0);
}

}  // namespace
}  // namespace headroom::test
