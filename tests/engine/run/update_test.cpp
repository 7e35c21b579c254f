// The optimizers against their formulas, and the seeded beginning of a run.
#include <cmath>

#include "decoder/adapters.h"
#include "decoder/parameters.h"
#include "engine/run/small_model.h"
#include "run/initial.h"

namespace headroom::engine::test {
namespace {

Plan with(Optimizer optimizer, Dtype dtype) {
    Plan plan = small_plan({"llama", false, false, 0, ""}, dtype, 64, 32, 8);
    plan.recipe.optimizer = optimizer;
    return plan;
}

TEST(Update, SgdStepsAgainstTheClippedGradient) {
    OptimizerSettings settings;
    settings.learning_rate = 0.5;
    settings.clip_norm = 0.25;
    SmallRun run(with(Optimizer::sgd, Dtype::fp64), settings);
    const StepResult r = run.step();
    const at::Tensor g = run.executor->weight_gradients();
    EXPECT_NEAR(r.gradient_norm, g.norm().item<double>(), 1e-12);
    ASSERT_GT(r.gradient_norm, settings.clip_norm);
    const at::Tensor expected = random_weights(run.plan) - g * (0.5 * 0.25 / r.gradient_norm);
    EXPECT_LT(relative_error(run.executor->weights(), expected), 1e-14);
}

TEST(Update, AdamWFollowsItsFormulaForTwoSteps) {
    OptimizerSettings s;
    s.learning_rate = 0.01;
    s.clip_norm = 0;
    SmallRun run(with(Optimizer::adamw, Dtype::fp64), s);
    at::Tensor w = random_weights(run.plan), m = at::zeros_like(w), v = at::zeros_like(w);
    for (int t = 1; t <= 2; ++t) {
        run.step();
        const at::Tensor g = run.executor->weight_gradients();
        m = s.beta1 * m + (1 - s.beta1) * g;
        v = s.beta2 * v + (1 - s.beta2) * g * g;
        w = w - s.learning_rate *
                    (m / (1 - std::pow(s.beta1, t)) / ((v / (1 - std::pow(s.beta2, t))).sqrt() + s.epsilon) +
                     s.weight_decay * w);
        EXPECT_LT(relative_error(run.executor->weights(), w), 1e-13);
    }
}

TEST(Update, TheLossOfTheSameTokensFalls) {
    Plan plan = with(Optimizer::adamw, Dtype::bf16);
    plan.recipe.gradients = plan.recipe.states = Dtype::fp32;
    OptimizerSettings settings;
    settings.learning_rate = 1e-2;
    SmallRun run(std::move(plan), settings);
    double before = run.step().loss;
    for (int i = 0; i < 3; ++i) {
        const double loss = run.step().loss;
        EXPECT_LT(loss, before);
        before = loss;
    }
}

TEST(Update, AdaptersAloneAreTrained) {
    Plan plan = with(Optimizer::adamw, Dtype::bf16);
    plan.recipe.gradients = plan.recipe.states = Dtype::fp32;
    plan.recipe.lora_rank = 4;
    plan.recipe.lora_targets = {"q", "v", "down"};
    OptimizerSettings settings;
    settings.learning_rate = 1e-2;
    SmallRun run(std::move(plan), settings);
    ASSERT_TRUE(fill_initial_adapters(run.plan, 1, run.executor->adapters()));
    const at::Tensor weights = run.executor->weights().clone(), adapters = run.executor->adapters().clone();
    const double first = run.step().loss;
    double loss = first;
    for (int i = 0; i < 3; ++i) {
        const double next = run.step().loss;
        EXPECT_LT(next, loss);
        loss = next;
    }
    EXPECT_TRUE(at::equal(run.executor->weights(), weights));
    for (const Parameter& p : adapter_list(run.plan.model, run.plan.recipe)) {
        EXPECT_FALSE(at::equal(run.executor->adapters().narrow(0, p.offset, p.elements()),
                               adapters.narrow(0, p.offset, p.elements())))
            << p.weight.name;
    }
}

TEST(Initial, AdaptersAddNothingAtFirst) {
    Plan plan = with(Optimizer::none, Dtype::fp32);
    plan.recipe.lora_rank = 8;
    plan.recipe.lora_targets = {"o", "down"};
    at::Tensor adapters = at::full({ParameterUnits(plan).adapters}, NAN);
    ASSERT_TRUE(fill_initial_adapters(plan, 1, adapters));
    for (const Parameter& p : adapter_list(plan.model, plan.recipe)) {
        const at::Tensor values = adapters.narrow(0, p.offset, p.elements());
        if (p.weight.name.find("lora_B") != std::string::npos) {
            EXPECT_EQ(values.abs().max().item<float>(), 0);
            continue;
        }
        // Uniform within 1 / sqrt(in): its deviation is the bound / sqrt(3).
        const double bound = 1 / std::sqrt(static_cast<double>(p.weight.shape[1]));
        EXPECT_LE(values.abs().max().item<double>(), bound);
        EXPECT_GT(values.abs().max().item<double>(), 0.95 * bound);
        EXPECT_NEAR(values.std().item<double>(), bound / std::sqrt(3.0), 0.05 * bound);
    }
}

TEST(Initial, WeightsAreAFunctionOfTheSeed) {
    const Plan plan = with(Optimizer::none, Dtype::fp32);
    const int64_t count = count_parameters(plan.model).total();
    at::Tensor a = at::zeros({count}), b = at::zeros({count}), c = at::zeros({count});
    ASSERT_TRUE(fill_initial_weights(plan, 1, a));
    ASSERT_TRUE(fill_initial_weights(plan, 1, b));
    ASSERT_TRUE(fill_initial_weights(plan, 2, c));
    EXPECT_TRUE(at::equal(a, b));
    EXPECT_FALSE(at::equal(a, c));
    for (const Parameter& p : parameter_list(plan.model)) {
        const at::Tensor values = a.narrow(0, p.offset, p.elements());
        const double mean = p.weight.role == WeightRole::norm ? 1 : 0;
        EXPECT_NEAR(values.mean().item<double>(), mean, 0.02) << p.weight.name;
        EXPECT_NEAR(values.std().item<double>(), 0.02, 0.01) << p.weight.name;
    }
}

}  // namespace
}  // namespace headroom::engine::test
