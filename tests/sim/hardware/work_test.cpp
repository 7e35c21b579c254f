#include "hardware/work.h"

#include <gtest/gtest.h>

#include <set>

namespace headroom {
namespace {

TEST(Work, GemmCountsAMultiplyAddAsTwo) {
    const Work w = gemm(2, 3, 5);
    EXPECT_EQ(w.flops, 2 * 2 * 3 * 5);
    EXPECT_EQ(w.bytes, 2 * (2 * 5 + 3 * 5 + 2 * 3));
    EXPECT_EQ(gemm(2, 3, 5, 4).flops, 4 * w.flops);
    EXPECT_EQ(gemm(2, 3, 5, 4).bytes, 4 * w.bytes);
}

TEST(Work, AccumulatingReadsAndWritesTheSumInFp32) {
    const Work w = gemm_accumulate(2, 3, 5);
    EXPECT_EQ(w.flops, gemm(2, 3, 5).flops);
    EXPECT_EQ(w.bytes, 2 * (2 * 5 + 3 * 5) + 2 * 4 * 2 * 3);
}

// The measured row 4096 x 8192, 28 query heads of 128: 0.70 ms at 690 TFLOP/s, backward 2.10 ms at 573.
TEST(Work, AttentionFlopsAreThoseOfTheMeasuredRates) {
    const Work forward = attention(false, false, false, 4096, 8192, 28, 4, 128);
    EXPECT_NEAR(static_cast<double>(forward.flops) / 690e12, 0.70e-3, 0.005e-3);
    const Work backward = attention(true, false, false, 4096, 8192, 28, 4, 128);
    EXPECT_NEAR(static_cast<double>(backward.flops) / 573e12, 2.10e-3, 0.005e-3);
    // 4096 x 12288, causal at the bottom right: 0.94 ms at 640.
    const Work corner = attention(false, false, true, 4096, 12288, 28, 4, 128);
    EXPECT_NEAR(static_cast<double>(corner.flops) / 640e12, 0.94e-3, 0.005e-3);
}

TEST(Work, CausalCountsTheTriangleWithItsDiagonal) {
    EXPECT_EQ(attention(false, false, true, 3, 3, 1, 1, 1).flops, 4 * 6);
    EXPECT_EQ(attention(false, false, true, 3, 5, 1, 1, 1).flops, 4 * (3 + 4 + 5));
    // More queries than keys: the first ones see nothing.
    EXPECT_EQ(attention(false, false, true, 5, 3, 1, 1, 1).flops, 4 * 6);
}

TEST(Work, KeysSeenIsTheSumOverAllBlocks) {
    EXPECT_EQ(attention(false, false, false, 4, 8, 2, 1, 16, 3).flops, 4 * 3 * 4 * 8 * 2 * 16);
    EXPECT_EQ(attention(false, false, false, 4, 8, 2, 1, 16, 3, 50).flops, 4 * 50 * 2 * 16);
}

TEST(Work, BlocksAreOneCall) {
    const Work calls = attention(true, false, false, 4, 8, 2, 1, 16, 3),
               blocks = block_attention(true, false, 4, 8, 2, 1, 16, 3);
    EXPECT_EQ(blocks.batch, 1);
    EXPECT_EQ(blocks.blocks, 3);
    EXPECT_EQ(blocks.flops, calls.flops);
    EXPECT_EQ(blocks.bytes, calls.bytes);
    // q, out and d_out, each read and written.
    EXPECT_EQ(packed_bytes(5, 2, 16, 2), 6 * 5 * 2 * 16 * 2);
}

TEST(Work, AttentionMovesItsOperandsOnce) {
    const int64_t query_side = 2 * 4 * 6 * 16, key_side = 2 * 8 * 2 * 16, log_sum_exp = 4 * 4 * 6;
    EXPECT_EQ(attention(false, false, false, 4, 8, 6, 2, 16).bytes,
              2 * query_side + 2 * key_side + log_sum_exp);
    EXPECT_EQ(attention(true, false, false, 4, 8, 6, 2, 16).bytes,
              4 * query_side + 4 * key_side + log_sum_exp);
}

TEST(Work, AbsurdShapesOverflowInsteadOfWrapping) {
    EXPECT_THROW(gemm(int64_t{1} << 40, int64_t{1} << 40, 1), Overflow);
    EXPECT_THROW(attention(false, false, false, int64_t{1} << 40, int64_t{1} << 40, 1, 1, 1), Overflow);
}

TEST(Work, EveryKindHasItsOwnName) {
    std::set<std::string_view> names;
    for (int i = 0; i < static_cast<int>(WorkKind::count_); ++i)
        names.insert(name_of(static_cast<WorkKind>(i)));
    EXPECT_EQ(names.size(), static_cast<size_t>(WorkKind::count_));
    EXPECT_FALSE(names.contains("unknown"));
    std::set<std::string_view> kernels;
    for (size_t i = 0; i < kKernels; ++i) kernels.insert(name_of(static_cast<Kernel>(i)));
    EXPECT_EQ(kernels.size(), kKernels);
    EXPECT_FALSE(kernels.contains("unknown") || kernels.contains(""));
}

}  // namespace
}  // namespace headroom
