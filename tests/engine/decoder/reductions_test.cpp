#include "decoder/reductions.h"

#include <gtest/gtest.h>

#include "engine/kernels/drawn.h"

namespace headroom::engine::test {
namespace {

TEST(Reductions, ColumnSumsAreAddedToWhatIsThere) {
    for (const auto& [type, sums_type, step] : {std::tuple{at::kDouble, at::kDouble, 1e-14},
                                                {at::kFloat, at::kFloat, 1e-6},
                                                {at::kBFloat16, at::kFloat, 1e-6}}) {
        const at::Tensor wide = drawn({30, 24}, 1, type), x = wide.narrow(1, 8, 8);
        at::Tensor sums = at::ones({8}, sums_type);
        add_column_sums(x, sums);
        EXPECT_LT(off(sums, x.to(at::kDouble).sum(0) + 1), step);
    }
}

TEST(Reductions, SquaresAreAddedUpInDoublePrecision) {
    // In fp32 the small ones would be lost beside 2^24.
    at::Tensor values = at::full({100'001}, 0.5, at::kFloat);
    values[3] = 4096;
    at::Tensor sum = at::ones({}, at::kDouble);
    add_squares(values, sum);
    EXPECT_EQ(sum.item<double>(), 1 + 4096.0 * 4096 + 25'000);
    const at::Tensor wide = at::full({3}, 2, at::kDouble);
    add_squares(wide, sum.zero_());
    EXPECT_EQ(sum.item<double>(), 12);
    EXPECT_EQ(wide.sum().item<double>(), 6);  // read, not written
}

TEST(Reductions, RowsGoToTheirIds) {
    const at::Tensor rows = drawn({7, 8}, 1, at::kDouble), before = drawn({10, 8}, 2, at::kDouble);
    for (const at::ScalarType type : {at::kInt, at::kLong}) {
        at::Tensor table = before.clone();
        add_rows(at::tensor({4, 9, 4, 0, 4, 9, 2}, type), rows, table);
        EXPECT_LT(off(table[4], before[4] + rows[0] + rows[2] + rows[4]), 1e-14);
        EXPECT_LT(off(table[9], before[9] + rows[1] + rows[5]), 1e-14);
        EXPECT_LT(off(table[0], before[0] + rows[3]), 1e-14);
        EXPECT_TRUE(table[5].equal(before[5]));
    }
}

TEST(Reductions, OneScratchServesAll) {
    EXPECT_EQ(reduction_scratch_bytes(4096, 4608), 4608 * 1024);
    EXPECT_EQ(reduction_scratch_bytes(100'000, 8), 400'000);
    EXPECT_EQ(reduction_scratch_bytes(1, 1), 8192);
}

}  // namespace
}  // namespace headroom::engine::test
