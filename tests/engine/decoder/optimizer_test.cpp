// The optimizers against a plain AdamW in fp64, their rounding, and what 8 bits cost.
#include "decoder/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/optimizer_math.h"

namespace headroom::engine {
namespace {

using kernels::OptimizerStep;

at::Tensor drawn(int64_t count, uint64_t seed) {
    return at::randn({count}, at::detail::createCPUGenerator(seed), at::kDouble);
}

Recipe recipe(Optimizer optimizer, Dtype states = Dtype::fp32, bool master = false) {
    Recipe r;
    r.optimizer = optimizer;
    r.states = states;
    r.master_weights = master;
    return r;
}

OptimizerStep step_of(int64_t t, double rate = 0.01) {
    OptimizerStep s{.rate = rate, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .decay = 0.1};
    s.correction1 = 1 - std::pow(s.beta1, static_cast<double>(t));
    s.correction2 = 1 - std::pow(s.beta2, static_cast<double>(t));
    s.clip = 0.5;
    s.seed = static_cast<uint64_t>(t);
    return s;
}

// AdamW as its paper writes it, in fp64.
struct PlainAdamW {
    at::Tensor w, m, v;
    explicit PlainAdamW(const at::Tensor& weights)
        : w(weights.to(at::kDouble, false, true)), m(at::zeros_like(w)), v(at::zeros_like(w)) {}
    void step(const at::Tensor& gradient, const OptimizerStep& s) {
        const at::Tensor g = gradient.to(at::kDouble) * s.clip;
        m = s.beta1 * m + (1 - s.beta1) * g;
        v = s.beta2 * v + (1 - s.beta2) * g * g;
        w = w - s.rate * (m / s.correction1 / ((v / s.correction2).sqrt() + s.epsilon) + s.decay * w);
    }
};

// Weights with gradients and states of their own, updated in two pieces of whole blocks.
struct Trained {
    Trained(const Recipe& r, const at::Tensor& initial, at::ScalarType type, at::Device device = at::kCPU)
        : weights(initial.to(type).to(device, type, false, /*copy=*/true)),
          bytes(
              at::zeros({24 * initial.numel() + 4096}, at::TensorOptions().dtype(at::kByte).device(device))),
          state(optimizer_state_in(r, initial.numel(), bytes)) {
        if (state.master.defined()) state.master.copy_(initial);
    }
    void step(const at::Tensor& gradient, const OptimizerStep& s) {
        const at::Tensor g = gradient.to(weights.device());
        const int64_t count = weights.numel(), half = count / 2 / 256 * 256;
        const auto piece = [&](int64_t first, int64_t size) {
            optimizer_update(weights.narrow(0, first, size), g.narrow(0, first, size),
                             piece_of(state, first, size), first, s);
        };
        piece(half, count - half);
        piece(0, half);
    }
    at::Tensor wide() const { return weights.cpu().to(at::kDouble); }
    at::Tensor weights, bytes;
    OptimizerState state;
};

double off(const at::Tensor& a, const at::Tensor& b) {
    return ((a.to(at::kDouble) - b).norm() / b.norm()).item<double>();
}

TEST(Optimizer, AdamWIsThePlainOneWithinRounding) {
    const int64_t n = 1000;
    struct Case {
        at::ScalarType weights, gradients;
        Recipe recipe;
        double bound;
    };
    // fp32: some epsilons a step. bf16 weights without a master: 2^-8 of a value a step, random, over the
    // steps' root; with a master 2^-9 once. bf16 moments: m and v off by up to 2^-8 and their noise of some
    // steps, of an update that is 1 % of a weight.
    const std::vector<Case> cases{
        {at::kDouble, at::kDouble, recipe(Optimizer::adamw, Dtype::fp64), 1e-14},
        {at::kFloat, at::kFloat, recipe(Optimizer::adamw), 1e-6},
        {at::kFloat, at::kBFloat16, recipe(Optimizer::adamw), 1e-6},
        {at::kFloat, at::kFloat, recipe(Optimizer::adamw, Dtype::bf16), 1e-3},
        {at::kBFloat16, at::kFloat, recipe(Optimizer::adamw), 2e-2},
        {at::kBFloat16, at::kFloat, recipe(Optimizer::adamw, Dtype::fp32, true), 1.0 / 512},
        {at::kBFloat16, at::kBFloat16, recipe(Optimizer::adamw, Dtype::bf16, true), 1.0 / 400},
    };
    for (const Case& c : cases) {
        const at::Tensor initial = drawn(n, 1).to(c.weights).to(at::kDouble);
        PlainAdamW plain(initial);
        Trained trained(c.recipe, initial, c.weights);
        for (int64_t t = 1; t <= 10; ++t) {
            const at::Tensor g = drawn(n, 10 + static_cast<uint64_t>(t)).to(c.gradients);
            plain.step(g, step_of(t));
            trained.step(g, step_of(t));
        }
        EXPECT_LT(off(trained.wide(), plain.w), c.bound) << c.weights << " " << name_of(c.recipe.states);
        if (trained.state.master.defined()) {
            // The master follows the moments alone; the weights are it, rounded once.
            EXPECT_LT(off(trained.state.master, plain.w), c.recipe.states == Dtype::fp32 ? 1e-6 : 1e-3);
            EXPECT_TRUE(at::equal(trained.weights, trained.state.master.to(at::kBFloat16)));
        }
    }
}

TEST(Optimizer, SgdIsAStepAgainstTheGradient) {
    const at::Tensor initial = drawn(700, 1), g = drawn(700, 2);
    Trained wide(recipe(Optimizer::sgd), initial, at::kDouble);
    wide.step(g, step_of(1));
    EXPECT_LT(off(wide.weights, initial - 0.01 * 0.5 * g), 1e-15);
    Trained master(recipe(Optimizer::sgd, Dtype::fp32, true), initial, at::kBFloat16);
    for (int i = 0; i < 50; ++i) master.step(g.to(at::kFloat), step_of(1));
    EXPECT_LT(off(master.state.master, initial - 50 * 0.01 * 0.5 * g), 50 * 6e-8);
}

TEST(Optimizer, StochasticRoundingIsUnbiased) {
    // A step of 1/50 of bf16's distance between neighbours at 1, 2^-7: to nearest nothing would move.
    const int64_t n = 80000, steps = 25;
    const double move = 1.0 / 128 / 50;
    Trained trained(recipe(Optimizer::sgd), at::ones({n}), at::kBFloat16);
    OptimizerStep s = step_of(1, move);
    s.clip = 1;
    for (int64_t t = 0; t < steps; ++t) {
        s.seed = static_cast<uint64_t>(t);
        trained.step(at::full({n}, -1.0f), s);
    }
    // Mean of n values, each a sum of independent roundings with variance under (2^-7)^2 / 4 a step.
    const double deviation = std::sqrt(static_cast<double>(steps) / 4 / static_cast<double>(n)) / 128;
    EXPECT_NEAR(trained.wide().mean().item<double>(), 1 + steps * move, 4 * deviation);
    EXPECT_LT(4 * deviation, steps * move / 10);
    EXPECT_GT(at::std(trained.wide()).item<double>(), 0);
}

TEST(Optimizer, CodesRoundWithoutBiasAndKeepWhatIsNotZero) {
    using namespace kernels;
    for (const float largest : {1.0f, 3e-20f, 7e12f}) {
        const float s1 = first_scale(largest), s2 = second_scale(largest);
        for (const float share : {1.0f, 0.83f, 0.3f, 0.017f, 2e-3f, 3e-4f}) {
            double sum1 = 0, sum2 = 0;
            const int draws = 4096;
            for (int i = 0; i < draws; ++i) {
                const auto noise = static_cast<uint32_t>(i) * 16;  // evenly over 16 bits
                const float value = -largest * share;
                const float back1 = first_value(first_code(value, s1, noise), s1);
                const float back2 = second_value(second_code(-value, s2, noise), s2);
                // Half a code at most above the first binade: 1/16, and (1 + 1/32)^2 - 1.
                if (share > 0.02f) {
                    EXPECT_NEAR(back1 / value, 1, 1.0 / 16 + 1e-6);
                }
                EXPECT_NEAR(back2 / -value, 1, share > 1e-3f ? 1.0 / 15 : 0.2);
                sum1 += back1;
                sum2 += back2;
            }
            EXPECT_NEAR(sum1 / draws / (-largest * share), 1, 2e-3 + 3e-7 / share) << share;
            EXPECT_NEAR(sum2 / draws / (largest * share), 1, 2e-3) << share;
        }
        EXPECT_EQ(first_value(first_code(0, s1, 0xffff), s1), 0);
        EXPECT_EQ(second_code(0, s2, 0), 0);
        EXPECT_EQ(second_value(0, s2), 0);
        // Far under the smallest code: the second moment stays above zero.
        EXPECT_GT(second_value(second_code(largest * 1e-12f, s2, 0xffff), s2), 0);
    }
    EXPECT_EQ(second_code(0, 0, 0), 0);  // a block of zeros has a scale of zero
}

TEST(Optimizer, EveryCodeComesBackAsItself) {
    using namespace kernels;
    for (uint32_t code = 0; code < 256; ++code) {
        const float v1 = first_value(static_cast<uint8_t>(code), 0.5f),
                    v2 = second_value(static_cast<uint8_t>(code), 0.5f);
        if (code != 128) {  // 128: a negative zero
            EXPECT_EQ(first_code(v1, 0.5f, 0xffff), code);
        }
        // The root of a square may be one bit low: the code below, with a rest of all but nothing.
        EXPECT_EQ(second_code(v2, 0.5f, 0x8000), code);
        if (code > 0 && code < 128) {
            EXPECT_GT(v1, first_value(static_cast<uint8_t>(code - 1), 0.5f));
        }
        if (code > 0) {
            EXPECT_GT(v2, second_value(static_cast<uint8_t>(code - 1), 0.5f));
        }
    }
}

// Minimises |A w - b|^2 / n with noisy gradients, whose sizes differ by 10^4 between coordinates.
double toy_loss(Optimizer optimizer) {
    const int64_t n = 512;
    const at::Tensor scale = at::logspace(-2, 2, n, 10.0, at::kDouble), goal = drawn(n, 3);
    Trained trained(recipe(optimizer), at::zeros({n}, at::kDouble), at::kFloat);
    double tail = 0;
    for (int64_t t = 1; t <= 400; ++t) {
        OptimizerStep s = step_of(t, 0.02);
        s.clip = 1;
        s.decay = 0;
        const at::Tensor noise = 0.3 * drawn(n, 1000 + static_cast<uint64_t>(t));
        trained.step((scale * (trained.wide() - goal + noise)).to(at::kFloat), s);
        if (t > 300) tail += (trained.wide() - goal).square().mean().item<double>() / 100;
    }
    return tail;
}

TEST(Optimizer, EightBitsReachWhatThirtyTwoDo) {
    const double at_zero = drawn(512, 3).square().mean().item<double>();
    const double wide = toy_loss(Optimizer::adamw), narrow = toy_loss(Optimizer::adamw8bit);
    EXPECT_LT(wide, at_zero / 20);
    // The same place within a fifth: the noise of the codes is small beside that of the gradients.
    EXPECT_LT(narrow, 1.2 * wide);
    EXPECT_GT(narrow, wide / 1.2);
}

TEST(Optimizer, EightBitUpdatesStayFiniteWhereABlockHoldsVeryDifferentGradients) {
    // One gradient 10^8 times the others, then gone: the others' second moments lie under the smallest code.
    const int64_t n = 256;
    Trained trained(recipe(Optimizer::adamw8bit), at::zeros({n}), at::kFloat);
    for (int64_t t = 1; t <= 30; ++t) {
        at::Tensor g = at::full({n}, 1e-6f);
        g[7] = t == 1 ? 100.0f : 0.0f;
        const at::Tensor before = trained.wide();
        OptimizerStep s = step_of(t);
        s.decay = 0;
        trained.step(g, s);
        // AdamW with these betas moves by less than 1 / (1 - beta1) / sqrt(1 - beta2) rates; codes add 1/16.
        EXPECT_LT((trained.wide() - before).abs().max().item<double>(), 0.01 * 10) << t;
    }
    EXPECT_TRUE(trained.weights.isfinite().all().item<bool>());
}

TEST(Optimizer, ZeroGradientsLeaveZeroStatesAndMoveNothing) {
    Trained trained(recipe(Optimizer::adamw8bit), at::ones({300}), at::kFloat);
    OptimizerStep s = step_of(1);
    s.decay = 0;
    for (int i = 0; i < 3; ++i) trained.step(at::zeros({300}), s);
    EXPECT_TRUE(trained.weights.eq(1).all().item<bool>());
    EXPECT_EQ(trained.bytes.to(at::kLong).sum().item<int64_t>(), 0);
}

TEST(Optimizer, WhatIsNoNumberStaysNone) {
    for (const Optimizer o : {Optimizer::sgd, Optimizer::adamw, Optimizer::adamw8bit}) {
        Trained trained(recipe(o), at::ones({300}), at::kBFloat16);
        at::Tensor g = at::zeros({300});
        g[5] = std::nanf("");
        g[9] = INFINITY;
        trained.step(g, step_of(1));
        EXPECT_TRUE(trained.weights.isnan()[5].item<bool>());
        EXPECT_FALSE(trained.weights.isfinite()[9].item<bool>());
        EXPECT_TRUE(trained.weights.isfinite()[6].item<bool>());
    }
}

TEST(Optimizer, AnyCutInWholeBlocksGivesTheSameBits) {
    const at::Tensor initial = drawn(1000, 1), g = drawn(1000, 2).to(at::kFloat);
    for (const Optimizer o : {Optimizer::adamw, Optimizer::adamw8bit}) {
        Trained cut(recipe(o, Dtype::bf16), initial, at::kBFloat16);
        Trained whole(recipe(o, Dtype::bf16), initial, at::kBFloat16);
        for (int64_t t = 1; t < 4; ++t) {
            cut.step(g, step_of(t));
            optimizer_update(whole.weights, g, whole.state, 0, step_of(t));
        }
        EXPECT_TRUE(at::equal(cut.weights, whole.weights));
        EXPECT_TRUE(at::equal(cut.bytes, whole.bytes));
    }
}

TEST(Optimizer, TheKernelGivesTheBitsOfItsTwin) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    for (const at::ScalarType weights : {at::kFloat, at::kBFloat16}) {
        for (const at::ScalarType gradients : {at::kFloat, at::kBFloat16}) {
            for (const bool master : {false, true}) {
                for (const Recipe& r : {recipe(Optimizer::sgd, Dtype::fp32, master),
                                        recipe(Optimizer::adamw, Dtype::fp32, master),
                                        recipe(Optimizer::adamw, Dtype::bf16, master),
                                        recipe(Optimizer::adamw8bit, Dtype::fp32, master)}) {
                    const int64_t n = 100003;
                    Trained cpu(r, drawn(n, 1), weights), gpu(r, drawn(n, 1), weights, at::kCUDA);
                    for (int64_t t = 1; t < 5; ++t) {
                        const at::Tensor g = drawn(n, 5 + static_cast<uint64_t>(t)).to(gradients);
                        cpu.step(g, step_of(t));
                        gpu.step(g, step_of(t));
                    }
                    EXPECT_TRUE(at::equal(gpu.weights.cpu(), cpu.weights));
                    EXPECT_TRUE(at::equal(gpu.bytes.cpu(), cpu.bytes));
                }
            }
        }
    }
}

}  // namespace
}  // namespace headroom::engine
