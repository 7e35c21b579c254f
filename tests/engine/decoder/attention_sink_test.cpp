// A sink against the softmax that it is a column of, and its gradient against differences of that.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decoder/attention.h"

namespace headroom::engine::test {
namespace {

constexpr int64_t kT = 7, kHeads = 4, kGroups = 2, kDim = 8;

at::Tensor drawn(at::IntArrayRef shape, uint64_t seed) {
    return at::randn(shape, at::detail::createCPUGenerator(seed), at::kDouble);
}

// Causal attention of kT tokens to themselves with a further logit a head, written out.
at::Tensor written_out(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                       const at::Tensor& sinks) {
    const auto by_head = [](const at::Tensor& x) {
        return x.repeat_interleave(kHeads / x.size(1), 1).transpose(0, 1);
    };
    at::Tensor scores = at::matmul(by_head(q), by_head(k).transpose(1, 2)) / std::sqrt(1.0 * kDim);
    scores.masked_fill_(at::ones({kT, kT}, at::kBool).triu(1), -std::numeric_limits<double>::infinity());
    const at::Tensor all = at::cat({scores, sinks.view({kHeads, 1, 1}).expand({kHeads, kT, 1})}, 2);
    return at::matmul(at::softmax(all, 2).narrow(2, 0, kT), by_head(v)).transpose(0, 1);
}

struct Case {
    at::Tensor q = drawn({kT, kHeads, kDim}, 1), k = drawn({kT, kGroups, kDim}, 2),
               v = drawn({kT, kGroups, kDim}, 3), sinks = drawn({kHeads}, 4);
    at::Tensor out = at::empty_like(q), lse = at::empty({kT, kHeads}, at::kDouble);
    Case() { attention_forward(q, k, v, {}, out, lse); }
};

TEST(AttentionSink, IsAColumnOfTheSoftmaxWithoutAValue) {
    Case c;
    attention_sink(c.out, c.lse, c.sinks);
    EXPECT_TRUE(at::allclose(c.out, written_out(c.q, c.k, c.v, c.sinks), 1e-12, 1e-14));
}

TEST(AttentionSink, OfMinusInfinityChangesNothing) {
    Case c;
    const at::Tensor out = c.out.clone(), lse = c.lse.clone();
    attention_sink(c.out, c.lse, at::full_like(c.sinks, -std::numeric_limits<double>::infinity()));
    EXPECT_TRUE(at::equal(c.out, out));
    EXPECT_TRUE(at::equal(c.lse, lse));
}

TEST(AttentionSink, GradientIsThatOfTheSoftmax) {
    Case c;
    const at::Tensor d_out = drawn({kT, kHeads, kDim}, 5);
    attention_sink(c.out, c.lse, c.sinks);
    at::Tensor gradient = at::ones_like(c.sinks);  // added to
    attention_sink_backward(c.out, c.lse, d_out, c.sinks, gradient);
    for (int64_t h = 0; h < kHeads; ++h) {
        const auto loss = [&](double step) {
            at::Tensor moved = c.sinks.clone();
            moved[h] += step;
            return (written_out(c.q, c.k, c.v, moved) * d_out).sum().item<double>();
        };
        // Central differences: their error is of the order of the step squared.
        EXPECT_NEAR(gradient[h].item<double>(), 1 + (loss(1e-4) - loss(-1e-4)) / 2e-4, 1e-7);
    }
}

}  // namespace
}  // namespace headroom::engine::test
