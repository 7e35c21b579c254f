#include "calibrate/work.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "base/units.h"

namespace headroom::engine {
namespace {

class Work : public ::testing::Test {
protected:
    Operands operands_{at::kCPU, at::kFloat, {64 * kMiB, 64 * kMiB, 64 * kMiB, 64 * kMiB, 0}};
};

// Every op that any extent names, at sizes that a test can pay for.
TEST_F(Work, EveryMemoryBoundOpRunsAndCountsBytes) {
    std::set<std::string> kernels;
    for (const Extent extent : {Extent::full, Extent::cpu})
        for (const MemoryShape& s : shapes_of(extent).memory) kernels.insert(s.kernel);
    EXPECT_GE(kernels.size(), 25);
    const Dims dims{64, 4, 2, 16, 96, 512, true};
    for (const std::string& kernel : kernels) {
        MemoryRow row;
        const Timed piece = memory_work({kernel, dims, 256}, operands_, row);
        ASSERT_EQ(piece.problem, "") << kernel;
        EXPECT_NO_THROW(piece.work()) << kernel;
        EXPECT_EQ(row.kernel, kernel);
        EXPECT_GT(row.bytes, 0) << kernel;
        EXPECT_GT(row.rows * row.columns, 0) << kernel;
    }
}

TEST_F(Work, BytesAreThoseThatThePlannerCounts) {
    const Dims d{64, 4, 2, 16, 96, 512, true};  // q 64, kv 32, qkv 128; fp32 here
    const auto bytes = [&](const char* kernel) {
        MemoryRow row;
        EXPECT_EQ(memory_work({kernel, d, 256}, operands_, row).problem, "");
        return row.bytes;
    };
    EXPECT_EQ(bytes("norm"), 2 * 256 * 64 * 4);
    EXPECT_EQ(bytes("norm_backward"), 4 * 256 * 64 * 4);
    EXPECT_EQ(bytes("rope"), 2 * 256 * 128 * 4);
    EXPECT_EQ(bytes("rope_backward"), 256 * (2 * 128 * 4 + 64 * 4));
    EXPECT_EQ(bytes("merge"), 256 * (3 * 64 * 4 + 3 * 4 * 4));
    EXPECT_EQ(bytes("activation"), 256 * (192 + 96) * 4);
    EXPECT_EQ(bytes("activation_backward"), 256 * (2 * 192 + 96) * 4);
    EXPECT_EQ(bytes("loss"), 256 * 512 * 3 * 4);
    EXPECT_EQ(bytes("accumulate_kv_gradients.add"), 2 * 256 * 32 * 4 + 2 * (2 * 256 * 32 * 4));
    EXPECT_EQ(bytes("update.adamw"), 256 * (2 * 4 + 4) + 2 * (2 * 256 * 4));
}

TEST_F(Work, UnknownAndTooLargeOnesAreProblems) {
    MemoryRow row;
    EXPECT_NE(memory_work({"nothing", {64, 4, 2, 16, 96, 512, true}, 256}, operands_, row).problem, "");
    const Timed large = gemm_work({1 << 20, 1 << 20, 64, 0, RowUse::fit, GemmForm::forward, 0}, operands_);
    EXPECT_NE(large.problem.find("more than this device has room for"), std::string::npos) << large.problem;
}

TEST_F(Work, GemmsAndAttentionRunInEveryForm) {
    for (const GemmForm form :
         {GemmForm::forward, GemmForm::bias, GemmForm::residual, GemmForm::data_gradient}) {
        const Timed piece = gemm_work({64, 96, 32, 0, RowUse::fit, form, 0}, operands_);
        ASSERT_EQ(piece.problem, "") << name_of(form);
        EXPECT_NO_THROW(piece.work());
    }
    const Timed sum = accumulate_work({64, 96, 32, 0, RowUse::fit, GemmForm::forward, 0}, operands_);
    ASSERT_EQ(sum.problem, "");
    EXPECT_NO_THROW(sum.work());
    AttentionRow row;
    row.queries = row.keys = 64;
    row.heads = 4, row.kv_heads = 2, row.head_dim = 16;
    for (const bool causal : {false, true}) {
        for (const int32_t blocks : {1, 3}) {
            if (causal && blocks > 1) continue;
            row.causal = causal;
            row.blocks = blocks;
            const AttentionWork w = attention_work(row, operands_, true);
            ASSERT_EQ(w.forward.problem + w.backward.problem, "");
            EXPECT_NO_THROW(w.forward.work());
            EXPECT_NO_THROW(w.backward.work());
            EXPECT_EQ(w.deterministic.problem, kNotMeasured);
        }
    }
}

// Values that a GPU takes its full power for.
TEST_F(Work, OperandsAreRandomAndDoNotOverlap) {
    operands_.begin();
    const at::Tensor a = operands_.drawn({1000}), b = operands_.drawn({1000});
    EXPECT_NEAR(a.std().item<double>(), 1, 0.2);
    EXPECT_NE(a.data_ptr(), b.data_ptr());
    // As torch aligns the first one: to 64 on a CPU, to 512 on a GPU.
    EXPECT_EQ((reinterpret_cast<uintptr_t>(b.data_ptr()) - reinterpret_cast<uintptr_t>(a.data_ptr())) % 256,
              0);
    EXPECT_FALSE(at::equal(a, b));
    operands_.begin();
    EXPECT_EQ(operands_.drawn({1000}).data_ptr(), a.data_ptr());
    const at::Tensor kept = operands_.kept({1000});
    kept.zero_();
    operands_.refresh();
    EXPECT_NEAR(kept.std().item<double>(), 1, 0.2);
}

}  // namespace
}  // namespace headroom::engine
