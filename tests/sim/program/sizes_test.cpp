// Sizes of one rank against the model's own counts, and sums in closed form against plain loops.
#include "program/layer.h"
#include "sim/model/random_model.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

RC_GTEST_PROP(Sizes, ParametersOfOneRankAreTheModels, ()) {
    Plan plan = tiny_plan();
    plan.model = random_model();
    RC_ASSERT(ParameterUnits(plan).total() == count_parameters(plan.model).total());
}

RC_GTEST_PROP(Sizes, RanksTogetherHoldAtLeastTheModel, ()) {
    Plan plan = tiny_plan();
    plan.model = draw_model(plan.model);
    plan.gpus = plan.decisions.tensor_ranks = 2;
    const int64_t total = count_parameters(plan.model).total(), held = 2 * ParameterUnits(plan).total();
    RC_ASSERT(held >= total);
    // Twice: norms over hidden (and heads) alone; a unit that does not divide evenly by one element more.
    const int64_t layers = plan.model.layer_count();
    const int64_t norms = (plan.model.norms_per_layer * layers + 1) * plan.model.hidden +
                          (plan.model.qk_norm ? 2 * plan.model.head_dim * layers : 0);
    RC_ASSERT(held <= total + norms + layers + 2 * plan.model.hidden);
}

TEST(Sizes, TrainedParametersOfLora) {
    Plan plan = tiny_plan();
    plan.recipe.lora_rank = 8;
    plan.recipe.lora_targets = {"q", "v", "o", "down"};
    const ParameterUnits units(plan);
    // rank x (in + out): q 64 + 64, v 64 + 32, o 64 + 64, down 96 + 64.
    const int64_t a_layer = 8 * (128 + 96 + 128 + 160);
    EXPECT_EQ(units.trainable_layers, std::vector<int64_t>(3, a_layer));
    EXPECT_EQ(units.trainable(), 3 * a_layer);
    EXPECT_EQ(units.adapters, 3 * a_layer);
    EXPECT_EQ(units.total(), count_parameters(plan.model).total() + 3 * a_layer);
}

TEST(Sizes, BytesOfOptimizerStates) {
    Plan plan = tiny_plan();
    const auto states = [&](Optimizer o, bool master, Dtype moments, int64_t parameters = 1024) {
        plan.recipe.optimizer = o;
        plan.recipe.master_weights = master;
        plan.recipe.states = moments;
        return ParameterBytes(plan).states_of(parameters).count();
    };
    EXPECT_EQ(states(Optimizer::none, true, Dtype::fp32), 0);
    EXPECT_EQ(states(Optimizer::sgd, false, Dtype::fp32), 0);
    EXPECT_EQ(states(Optimizer::sgd, true, Dtype::fp32), 4 * 1024);
    EXPECT_EQ(states(Optimizer::adamw, false, Dtype::fp32), 8 * 1024);
    EXPECT_EQ(states(Optimizer::adamw, true, Dtype::bf16), 8 * 1024);
    EXPECT_EQ(states(Optimizer::adamw8bit, false, Dtype::fp32), 2 * 1024 + 2 * 4 * 4);
    // A block that is begun has its scales.
    EXPECT_EQ(states(Optimizer::adamw8bit, true, Dtype::fp32, 257), (2 + 4) * 257 + 2 * 2 * 4);
}

RC_GTEST_PROP(Sizes, KeysSeenAreThoseOfAPlainCount, ()) {
    const int64_t tokens = draw::in(1, 40), past = draw::in(0, 60),
                  window = draw::coin() ? 0 : draw::in(1, 120);
    int64_t own = 0, before = 0, first = past;
    for (int64_t q = past; q < past + tokens; ++q) {
        for (int64_t k = 0; k <= q; ++k) {
            if (window > 0 && k <= q - window) continue;
            (k < past ? before : own) += 1;
            first = std::min(first, k);
        }
    }
    RC_ASSERT(own_keys_seen(tokens, window) == static_cast<double>(own));
    RC_ASSERT(past_keys_seen(tokens, past, window) == static_cast<double>(before));
    RC_ASSERT(visible_past(past, window) == past - first);
}

}  // namespace
}  // namespace headroom::test
