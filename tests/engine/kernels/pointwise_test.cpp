// Each CUDA kernel against its CPU twin on the same bf16 inputs. Both round their results to bf16 once, from
// fp32 sums in another order: results may differ by one step of bf16, 2^-8 of a value, hence by less in the
// 2-norm.
#include "kernels/pointwise.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "decoder/attention.h"
#include "decoder/pointwise.h"
#include "engine/kernels/drawn.h"

namespace headroom::engine::test {
namespace {

constexpr double kStep = 1.0 / 256;

TEST_F(Kernels, GatedActivationsForwardAndBackward) {
    for (const bool gelu : {false, true}) {
        at::Tensor gate_up = drawn({77, 2 * 416}, 1), act = at::empty({77, 416}, at::kBFloat16),
                   d = drawn({77, 416}, 2);
        at::Tensor on_gpu = gate_up.cuda(), act_gpu = act.cuda();
        swiglu(gate_up, act, gelu);
        swiglu(on_gpu, act_gpu, gelu);
        EXPECT_LT(off(act_gpu, act), kStep);
        swiglu_backward(gate_up, d, gelu);
        swiglu_backward(on_gpu, d.cuda(), gelu);
        EXPECT_LT(off(on_gpu, gate_up), kStep);
    }
}

TEST_F(Kernels, RopeAndItsInverse) {
    for (const int64_t dim : {128, 80, 24}) {  // 24: no eight pairs in half a head
        Model m;
        m.head_dim = dim;
        m.rope.theta = 1e6;
        // Heads inside of wider rows, as in q, k and v side by side.
        at::Tensor rows = drawn({50, 6 * dim}, 1), rows_gpu = rows.cuda();
        const auto heads = [&](const at::Tensor& t) {
            return t.narrow(1, 0, 4 * dim).unflatten(1, {4, dim});
        };
        const RopeTable table = rope_table(m, {}, 1'000'000, 50, rows.options());
        const RopeTable table_gpu = rope_table(m, {}, 1'000'000, 50, rows_gpu.options());
        for (const bool inverse : {false, true}) {
            rope(heads(rows), table, inverse);
            rope(heads(rows_gpu), table_gpu, inverse);
            EXPECT_LT(off(rows_gpu, rows), kStep);
        }
    }
}

TEST_F(Kernels, Merge) {
    at::Tensor out = drawn({40, 4, 64}, 1), lse = drawn({40, 4}, 2, at::kFloat);
    const at::Tensor part = drawn({40, 4, 64}, 3), part_lse = drawn({40, 4}, 4, at::kFloat);
    lse[3][1] = -std::numeric_limits<float>::infinity();  // a query that saw no key yet
    at::Tensor out_gpu = out.cuda(), lse_gpu = lse.cuda();
    attention_merge(out, lse, part, part_lse);
    attention_merge(out_gpu, lse_gpu, part.cuda(), part_lse.cuda());
    EXPECT_LT(off(out_gpu, out), kStep);
    EXPECT_LT(off(lse_gpu, lse), 1e-6);
}

TEST_F(Kernels, CrossEntropy) {
    at::Tensor logits = drawn({33, 4104}, 1), logits_gpu = logits.cuda();
    at::Generator random = at::detail::createCPUGenerator(2);
    at::Tensor targets = at::randint(4104, {33}, random, at::kLong);
    targets[5] = -1;
    at::Tensor loss = at::zeros({}, at::kDouble), loss_gpu = loss.cuda();
    cross_entropy(logits, targets, 1.0 / 32, loss);
    cross_entropy(logits_gpu, targets.cuda(), 1.0 / 32, loss_gpu);
    EXPECT_NEAR(loss_gpu.item<double>() / loss.item<double>(), 1, 1e-6);
    EXPECT_LT(off(logits_gpu, logits), kStep);
    EXPECT_EQ(logits_gpu[5].abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace headroom::engine::test
