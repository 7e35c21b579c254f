// Norms of rows and sums over rows on the GPU against their CPU twins. Results in bf16 are rounded once from
// fp32 sums in another order: apart by less than a step of bf16, 2^-8. fp32 sums: 2^-24 a term, some hundreds
// of them.
#include "kernels/reductions.h"

#include "decoder/pointwise.h"
#include "decoder/reductions.h"
#include "engine/kernels/drawn.h"

namespace headroom::engine::test {
namespace {

constexpr double kStep = 1.0 / 256, kSum = 1e-4;

// What sums are added to: in fp32, or in bf16, which rounds once more.
constexpr std::pair<at::ScalarType, double> kSums[] = {{at::kFloat, kSum}, {at::kBFloat16, kStep}};

at::Tensor scratch_for(int64_t rows, int64_t columns) {
    return at::full({reduction_scratch_bytes(rows, columns)}, 0xff,
                    at::TensorOptions().dtype(at::kByte).device(at::kCUDA));
}

TEST_F(Kernels, RmsNormOfRows) {
    for (const int64_t columns : {64, 896, 3584, 8200, 20000}) {
        const at::Tensor x = drawn({530, columns}, 1), w = drawn({columns}, 2), d = drawn({530, columns}, 3);
        at::Tensor out = at::empty_like(x), out_gpu = at::empty_like(x).cuda();
        rms_norm(x, w, 1e-6, out);
        rms_norm(x.cuda(), w.cuda(), 1e-6, out_gpu);
        EXPECT_LT(off(out_gpu, out), kStep);
        for (const bool add : {false, true}) {
            for (const auto& [type, bound] : kSums) {
                at::Tensor dx = drawn({530, columns}, 4), dx_gpu = dx.cuda();
                at::Tensor dw = drawn({columns}, 5, type), dw_gpu = dw.cuda(), dw_again = dw.cuda();
                rms_norm_backward(x, w, 1e-6, d, dx, add, dw);
                rms_norm_backward(x.cuda(), w.cuda(), 1e-6, d.cuda(), dx_gpu, add, dw_gpu,
                                  scratch_for(530, columns));
                EXPECT_LT(off(dx_gpu, dx), kStep);
                EXPECT_LT(off(dw_gpu, dw), bound);
                rms_norm_backward(x.cuda(), w.cuda(), 1e-6, d.cuda(), dx_gpu, add, dw_again);
                EXPECT_TRUE(dw_again.equal(dw_gpu));
            }
        }
        at::Tensor dx = drawn({530, columns}, 4), dx_gpu = dx.cuda();
        rms_norm_backward(x, w, 1e-6, d, dx, true, {});
        rms_norm_backward(x.cuda(), w.cuda(), 1e-6, d.cuda(), dx_gpu, true, {});
        EXPECT_LT(off(dx_gpu, dx), kStep);
    }
}

// gemma3's: weights that are added to 1, and results that are added to what is there.
TEST_F(Kernels, RmsNormThatAddsOne) {
    for (const int64_t columns : {128, 3840}) {
        const at::Tensor x = drawn({530, columns}, 1), w = drawn({columns}, 2), d = drawn({530, columns}, 3);
        const NormRule rule(1e-6, true);
        at::Tensor out = drawn({530, columns}, 4), out_gpu = out.cuda();
        rms_norm(x, w, rule, out, true);
        rms_norm(x.cuda(), w.cuda(), rule, out_gpu, true);
        EXPECT_LT(off(out_gpu, out), kStep);
        at::Tensor dx = drawn({530, columns}, 5), dx_gpu = dx.cuda();
        at::Tensor dw = drawn({columns}, 6, at::kFloat), dw_gpu = dw.cuda();
        rms_norm_backward(x, w, rule, d, dx, true, dw);
        rms_norm_backward(x.cuda(), w.cuda(), rule, d.cuda(), dx_gpu, true, dw_gpu,
                          scratch_for(530, columns));
        EXPECT_LT(off(dx_gpu, dx), kStep);
        EXPECT_LT(off(dw_gpu, dw), kSum);
    }
}

// Heads of queries inside of wider rows; the gradient in place.
TEST_F(Kernels, RmsNormOfHeads) {
    for (const int64_t dim : {16, 64, 80, 128, 256}) {
        const at::Tensor rows = drawn({300, 9 * dim}, 1), gradients = drawn({300, 9 * dim}, 2),
                         w = drawn({dim}, 3);
        const auto heads = [&](const at::Tensor& t) {
            return t.narrow(1, dim, 5 * dim).unflatten(1, {5, dim});
        };
        at::Tensor out = at::empty({300, 5, dim}, at::kBFloat16), out_gpu = out.cuda();
        rms_norm(heads(rows), w, 1e-6, out);
        rms_norm(heads(rows.cuda()), w.cuda(), 1e-6, out_gpu);
        EXPECT_LT(off(out_gpu, out), kStep);
        for (const auto& [type, bound] : kSums) {
            at::Tensor d = gradients.clone(), d_gpu = gradients.cuda();
            at::Tensor dw = drawn({dim}, 4, type), dw_gpu = dw.cuda();
            rms_norm_backward(heads(rows), w, 1e-6, heads(d), heads(d), false, dw);
            rms_norm_backward(heads(rows.cuda()), w.cuda(), 1e-6, heads(d_gpu), heads(d_gpu), false, dw_gpu,
                              scratch_for(300, dim));
            EXPECT_LT(off(d_gpu, d), kStep);
            EXPECT_LT(off(dw_gpu, dw), bound);
            EXPECT_TRUE(d_gpu.narrow(1, 0, dim).cpu().equal(gradients.narrow(1, 0, dim)));
        }
    }
}

TEST_F(Kernels, ColumnSums) {
    for (const int64_t rows : {1, 200, 1000}) {
        const at::Tensor wide = drawn({rows, 4608 + 64}, 1), x = wide.narrow(1, 64, 4608),
                         x_gpu = wide.cuda().narrow(1, 64, 4608);
        for (const auto& [type, bound] : kSums) {
            at::Tensor sums = drawn({4608}, 2, type), sums_gpu = sums.cuda();
            add_column_sums(x, sums);
            add_column_sums(x_gpu, sums_gpu, scratch_for(rows, 4608));
            EXPECT_LT(off(sums_gpu, sums), bound);
        }
    }
}

TEST_F(Kernels, Squares) {
    for (const int64_t count : {3, 100'001, 3'000'000}) {
        for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
            const at::Tensor values = drawn({count}, 1, type);
            at::Tensor sum = at::ones({}, at::kDouble), sum_gpu = sum.cuda();
            add_squares(values, sum);
            add_squares(values.cuda(), sum_gpu, scratch_for(1, 1));
            EXPECT_NEAR(sum_gpu.item<double>() / sum.item<double>(), 1, 1e-12);
        }
    }
}

// Ids that come often, once and never, in one window and in several; the order of the additions is that of
// the tokens within a window and then of the windows, so the bits are equal.
TEST_F(Kernels, RowsByIds) {
    at::Generator random = at::detail::createCPUGenerator(1);
    for (const int64_t tokens : {int64_t{700}, 2 * kernels::kRowWindow + 700}) {
        for (const at::ScalarType type : {at::kInt, at::kLong}) {
            const at::Tensor ids = at::randint(60, {tokens}, random, type), rows = drawn({tokens, 2176}, 2);
            ids.narrow(0, tokens - 600, 300).fill_(7);
            for (const at::ScalarType of_table : {at::kFloat, at::kBFloat16}) {
                at::Tensor expected = drawn({70, 2176}, 3, of_table);
                const at::Tensor table = expected.cuda();
                for (int64_t first = 0; first < tokens; first += kernels::kRowWindow) {
                    at::Tensor sums = at::zeros({70, 2176}, at::kFloat);
                    for (int64_t t = first; t < std::min(first + kernels::kRowWindow, tokens); ++t)
                        sums[ids[t].item<int64_t>()] += rows[t].to(at::kFloat);
                    expected = (expected.to(at::kFloat) + 4 * sums).to(of_table);
                }
                add_rows(ids.cuda(), rows.cuda(), table, 4);
                EXPECT_TRUE(table.cpu().equal(expected)) << tokens;
            }
        }
    }
}

TEST_F(Kernels, RopeTable) {
    Model m;
    m.head_dim = 128;
    m.rope.theta = 1e6;
    const at::TensorOptions bf16 = at::TensorOptions().dtype(at::kBFloat16);
    const RopeTable table = rope_table(m, {}, 1'000'000, 50, bf16),
                    on_gpu = rope_table(m, {}, 1'000'000, 50, bf16.device(at::kCUDA));
    EXPECT_LT(off(on_gpu.cos, table.cos), 1e-7);
    EXPECT_LT(off(on_gpu.sin, table.sin), 1e-7);
}

}  // namespace
}  // namespace headroom::engine::test
