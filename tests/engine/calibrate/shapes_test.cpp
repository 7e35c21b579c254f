#include "calibrate/shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace headroom::engine {
namespace {

template <class Row>
size_t held_out(const std::vector<Row>& rows) {
    return static_cast<size_t>(
        std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.use == RowUse::check; }));
}

TEST(Shapes, AFifthIsHeldOutAndNoGemmStandsTwice) {
    for (const Extent extent : {Extent::full, Extent::quick, Extent::cpu, Extent::cpu_quick}) {
        const Shapes s = shapes_of(extent);
        EXPECT_EQ(held_out(s.gemm), (s.gemm.size() + 1) / 5);
        EXPECT_GT(held_out(s.gemm_accumulate), 0);
        EXPECT_GT(held_out(s.attention), 0);
        std::set<std::tuple<GemmForm, int64_t, int64_t, int64_t>> seen;
        for (const GemmRow& r : s.gemm) EXPECT_TRUE(seen.insert({r.form, r.m, r.n, r.k}).second) << r.m;
    }
}

TEST(Shapes, EveryRateHasRowsToFitAndEveryCurveItsPoints) {
    for (const Extent extent : {Extent::full, Extent::quick, Extent::cpu, Extent::cpu_quick}) {
        const Shapes s = shapes_of(extent);
        for (const bool causal : {false, true}) {
            EXPECT_GE(std::count_if(
                          s.attention.begin(), s.attention.end(),
                          [&](const AttentionRow& r) { return r.causal == causal && r.use == RowUse::fit; }),
                      1);
        }
        std::set<std::pair<bool, PageCopy>> curves;
        for (const TransferRow& r : s.transfers)
            if (r.opposite == 0) curves.insert({r.to_device, r.how});
        EXPECT_EQ(curves.size(), 6);
    }
}

// Else --check would find nothing in a file that was just written.
TEST(Shapes, TheCheckedPointsAreMeasuredByEveryExtent) {
    for (const Extent extent : {Extent::full, Extent::quick, Extent::cpu, Extent::cpu_quick}) {
        const bool gpu = extent == Extent::full || extent == Extent::quick;
        const Shapes checked = checked_shapes(gpu), s = shapes_of(extent);
        ASSERT_EQ(checked.gemm.size() + checked.attention.size() + checked.transfers.size(), gpu ? 4 : 3);
        const GemmRow& g = checked.gemm[0];
        EXPECT_TRUE(std::any_of(s.gemm.begin(), s.gemm.end(), [&](const GemmRow& r) {
            return r.m == g.m && r.n == g.n && r.k == g.k && r.form == g.form;
        }));
        const AttentionRow& a = checked.attention[0];
        EXPECT_TRUE(std::any_of(s.attention.begin(), s.attention.end(), [&](const AttentionRow& r) {
            return r.queries == a.queries && r.keys == a.keys && r.heads == a.heads && r.blocks == 1 &&
                   r.causal == a.causal;
        }));
        for (const TransferRow& t : checked.transfers) {
            EXPECT_TRUE(std::any_of(s.transfers.begin(), s.transfers.end(), [&](const TransferRow& r) {
                return r.to_device == t.to_device && r.how == t.how && r.piece == t.piece;
            })) << t.piece;
        }
    }
}

}  // namespace
}  // namespace headroom::engine
