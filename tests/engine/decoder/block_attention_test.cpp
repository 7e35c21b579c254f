#include "decoder/block_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoder/attention.h"
#include "engine/kernels/drawn.h"
#include "hardware/hardware.h"
#include "program/selection_scratch.h"

namespace headroom::engine::test {
namespace {

// Queries with keys of their block and, causally, their own: q, k of blocks, v of blocks, own k, own v.
struct Inputs {
    at::Tensor q, k, v, own_k, own_v, d_out;
    int64_t block;
    Inputs to(at::ScalarType type, const at::Device& device = at::kCPU) const {
        const auto moved = [&](const at::Tensor& t) { return t.to(device, type); };
        return {moved(q), moved(k), moved(v), moved(own_k), moved(own_v), moved(d_out), block};
    }
};

Inputs inputs(int64_t T, int64_t block, int64_t keys, int64_t heads, int64_t groups, int64_t d) {
    const int64_t blocks = (T + block - 1) / block;
    const auto values = [](at::IntArrayRef sizes, uint64_t seed) { return drawn(sizes, seed, at::kDouble); };
    return {values({T, heads, d}, 1),
            values({blocks, keys, groups, d}, 2),
            values({blocks, keys, groups, d}, 3),
            values({T, groups, d}, 4),
            values({T, groups, d}, 5),
            values({T, heads, d}, 6),
            block};
}

struct Results {
    at::Tensor out, lse, dq, dk, dv, own_dk, own_dv;
};

// All keys side by side under one mask, gradients by autograd.
Results truth(const Inputs& given) {
    const auto leaf = [](const at::Tensor& t) { return t.detach().clone().requires_grad_(true); };
    const Inputs in{leaf(given.q),     leaf(given.k), leaf(given.v), leaf(given.own_k),
                    leaf(given.own_v), given.d_out,   given.block};
    const int64_t T = in.q.size(0), per = in.q.size(1) / in.k.size(2), blocks = in.k.size(0),
                  S = in.k.size(1);
    const at::Tensor k = at::cat({in.k.flatten(0, 1), in.own_k}).repeat_interleave(per, 1),
                     v = at::cat({in.v.flatten(0, 1), in.own_v}).repeat_interleave(per, 1);
    const at::Tensor token = at::arange(T).unsqueeze(1),
                     of_block = at::arange(blocks).repeat_interleave(S).unsqueeze(0);
    const at::Tensor seen =
        at::cat({token.floor_divide(in.block) == of_block, at::arange(T).unsqueeze(0) <= token}, 1);
    const at::Tensor scores = at::einsum("thd,shd->hts", {in.q, k})
                                  .div(std::sqrt(static_cast<double>(in.q.size(2))))
                                  .masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
    const at::Tensor out = at::einsum("hts,shd->thd", {at::softmax(scores, -1), v});
    out.backward(in.d_out);
    return {out.detach(),   at::logsumexp(scores.detach(), {-1}).t(),
            in.q.grad(),    in.k.grad(),
            in.v.grad(),    in.own_k.grad(),
            in.own_v.grad()};
}

// As the planner reserves it (sim/program/layer.cpp).
BlockScratch scratch_for(const Inputs& in, bool deterministic = false) {
    const int64_t T = in.q.size(0), heads = in.q.size(1), groups = in.k.size(2), dim = in.q.size(2),
                  block = std::min(in.block, T);
    const int64_t queries = ceil_div(T, block) * round_up(block * (heads / groups), 128);
    const auto bytes = [&](int64_t count) { return at::empty({count}, in.q.options().dtype(at::kByte)); };
    return {bytes(kAttentionForwardWorkspace),
            bytes(attention_workspace(queries, in.k.size(1), groups, dim, deterministic, true).count()),
            bytes(packed_queries_bytes(T, heads, dim, 2)), at::empty({T, heads, dim}, in.q.options()),
            deterministic};
}

// The same in two parts, merged. What was not written is NaN.
Results by_parts(const Inputs& in, at::ScalarType sums, bool planned = false) {
    const auto unset = [](const at::Tensor& like) { return at::full_like(like, NAN); };
    const at::Tensor lse = at::full({in.q.size(0), in.q.size(1)}, NAN, in.q.options().dtype(sums));
    Results r{unset(in.q),    lse,         at::full_like(in.q, NAN, in.q.options().dtype(sums)),
              unset(in.k),    unset(in.v), unset(in.own_k),
              unset(in.own_v)};
    attention_forward(in.q, in.own_k, in.own_v, {}, r.out, r.lse);
    const at::Tensor part = unset(in.q), part_lse = unset(lse);
    const BlockScratch scratch = planned ? scratch_for(in) : BlockScratch();
    block_attention_forward(in.q, in.k, in.v, in.block, part, part_lse, scratch);
    attention_merge(r.out, r.lse, part, part_lse);
    attention_backward(in.q, in.own_k, in.own_v, r.out, r.lse, in.d_out, {}, r.dq, false, r.own_dk, r.own_dv);
    block_attention_backward(in.q, in.k, in.v, r.out, r.lse, in.d_out, in.block, r.dq, true, r.dk, r.dv,
                             scratch);
    return r;
}

void expect_close(const Results& got, const Results& expected, double tolerance) {
    EXPECT_LT(off(got.out, expected.out), tolerance);
    EXPECT_LT(off(got.lse, expected.lse), tolerance);
    EXPECT_LT(off(got.dq, expected.dq), tolerance);
    EXPECT_LT(off(got.dk, expected.dk), tolerance);
    EXPECT_LT(off(got.dv, expected.dv), tolerance);
    EXPECT_LT(off(got.own_dk, expected.own_dk), tolerance);
    EXPECT_LT(off(got.own_dv, expected.own_dv), tolerance);
}

TEST(BlockAttention, EqualsDenseUnderAMask) {
    for (const int64_t block : {4, 5, 12, 40}) {  // whole blocks, a ragged last one, one whole, one ragged
        const Inputs in = inputs(12, block, 10, 6, 2, 8);
        expect_close(by_parts(in, at::kDouble), truth(in), 1e-13);
        // 2^-24 a rounding, some 100 of them in a row.
        expect_close(by_parts(in.to(at::kFloat), at::kFloat), truth(in), 6e-6);
    }
}

TEST(BlockAttention, OverwritesTheGradientOfQueriesUnlessItIsToAdd) {
    const Inputs in = inputs(7, 3, 4, 4, 2, 8);
    at::Tensor out = at::empty_like(in.q), lse = at::empty({7, 4}, at::kDouble), dk = at::empty_like(in.k),
               dv = at::empty_like(in.v);
    block_attention_forward(in.q, in.k, in.v, 3, out, lse);
    at::Tensor fresh = at::full_like(in.q, NAN), added = at::ones_like(in.q);
    block_attention_backward(in.q, in.k, in.v, out, lse, in.d_out, 3, fresh, false, dk, dv);
    block_attention_backward(in.q, in.k, in.v, out, lse, in.d_out, 3, added, true, dk, dv);
    EXPECT_LT(off(added - 1, fresh), 1e-13);
}

TEST(BlockAttention, OneBlockIsTheCallWithoutAMask) {
    const Inputs in = inputs(9, 9, 6, 4, 2, 8);
    at::Tensor out = at::empty_like(in.q), lse = at::empty({9, 4}, at::kDouble);
    at::Tensor dense = at::empty_like(out), dense_lse = at::empty_like(lse);
    block_attention_forward(in.q, in.k, in.v, 9, out, lse);
    attention_forward(in.q, in.k[0], in.v[0], {100, 0, 0}, dense, dense_lse);
    EXPECT_TRUE(out.equal(dense) && lse.equal(dense_lse));
}

TEST(BlockAttention, RefusesKeysForAnotherNumberOfBlocks) {
    const Inputs in = inputs(12, 4, 10, 4, 2, 8);
    EXPECT_THROW(block_attention_forward(in.q, in.k, in.v, 7, at::empty_like(in.q), at::empty({12, 4})),
                 c10::Error);
}

// bf16: scores of some 5 in size are read with errors of 2^-9 of their terms, and what is written is rounded
// to 2^-9; six such errors on the longest way (q, k, P, dS, out, dq) make 6 * 2^-9 = 1.2e-2 at the most.
TEST(BlockAttention, OnAGpu) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    for (const int64_t block : {128, 100, 64, 300}) {
        const Inputs in = inputs(300, block, 256, 14, 2, 64).to(at::kBFloat16);
        const Results expected = truth(in.to(at::kDouble));
        const Inputs half = in.to(at::kBFloat16, at::Device("cuda:0"));
        expect_close(by_parts(half, at::kFloat), expected, 1.2e-2);
        expect_close(by_parts(half, at::kFloat, true), expected, 1.2e-2);
        expect_close(by_parts(in.to(at::kDouble, at::Device("cuda:0")), at::kDouble), expected, 1e-12);
    }
}

// Deterministic: the same bits every time.
TEST(BlockAttention, DeterministicGivesTheSameBits) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    for (const int64_t block : {128, 100, 512}) {
        const Inputs in = inputs(512, block, 1024, 14, 2, 128).to(at::kBFloat16, at::Device("cuda:0"));
        const BlockScratch scratch = scratch_for(in, true);
        const at::Tensor out = at::empty_like(in.q);
        const at::Tensor lse = at::empty({14, 512}, in.q.options().dtype(at::kFloat)).t();
        block_attention_forward(in.q, in.k, in.v, block, out, lse, scratch);
        at::Tensor first;
        for (int run = 0; run < 8; ++run) {
            const at::Tensor dq = at::zeros_like(in.q, at::kFloat), dk = at::empty_like(in.k),
                             dv = at::empty_like(in.v);
            block_attention_backward(in.q, in.k, in.v, out, lse, in.d_out, block, dq, true, dk, dv, scratch);
            const at::Tensor all =
                at::cat({dq.flatten(), dk.flatten().to(at::kFloat), dv.flatten().to(at::kFloat)});
            if (run == 0) first = all;
            EXPECT_TRUE(at::equal(all, first)) << "blocks of " << block << ", run " << run;
        }
    }
}

}  // namespace
}  // namespace headroom::engine::test
