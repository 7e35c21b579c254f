// Weights, gradients and states on the host: the arithmetic is that of the device, so the bits are the same.
#include "engine/run/small_model.h"
#include "program/parameters.h"

namespace headroom::engine::test {
namespace {

struct Homes {
    Home weights, gradients, states;
};
const Homes kHomes[] = {{Home::device, Home::device, Home::host}, {Home::device, Home::host, Home::device},
                        {Home::host, Home::device, Home::device}, {Home::device, Home::host, Home::host},
                        {Home::host, Home::host, Home::device},   {Home::host, Home::host, Home::host}};

Plan with_homes(Plan plan, const Homes& homes) {
    plan.decisions.weights_home = homes.weights;
    plan.decisions.gradients_home = homes.gradients;
    plan.decisions.states_home = homes.states;
    return plan;
}

std::vector<at::Tensor> kept(const Executor& e) {
    const OptimizerState& s = e.optimizer_state();
    std::vector<at::Tensor> all{e.weights(), e.weight_gradients()};
    for (const at::Tensor& t : {e.adapters(), s.master, s.first_scales, s.second_scales, s.first, s.second})
        if (t.defined()) all.push_back(t);
    return all;
}

// Two steps, since the second reads what the first left.
void expect_the_same_bits(const Plan& plan, const std::string& what, const at::Device& device = at::kCPU) {
    const OptimizerSettings settings{.learning_rate = 0.02};  // a step that bf16 weights show
    SmallRun truth(plan, settings, device);
    const StepResult first = truth.step(), second = truth.step();
    EXPECT_NE(first.loss, second.loss) << what;
    for (const Homes& homes : kHomes) {
        SmallRun run(with_homes(plan, homes), settings, device);
        const std::string where = what + ", weights " + std::to_string(static_cast<int>(homes.weights)) +
                                  " gradients " + std::to_string(static_cast<int>(homes.gradients)) +
                                  " states " + std::to_string(static_cast<int>(homes.states));
        for (const StepResult& expected : {first, second}) {
            const StepResult found = run.step();
            EXPECT_EQ(found.loss, expected.loss) << where;
            EXPECT_EQ(found.gradient_norm, expected.gradient_norm) << where;
        }
        const std::vector<at::Tensor> a = kept(*run.executor), b = kept(*truth.executor);
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i)
            EXPECT_TRUE(at::equal(a[i].cpu(), b[i].cpu())) << where << ", tensor " << i;
        EXPECT_EQ(run.executor->weights().is_cpu(), homes.weights == Home::host || device.is_cpu());
    }
}

const Family kFamilies[] = {{"qwen2", true, false, 0, ""},
                            {"qwen2", true, true, 0, ""},
                            {"qwen3", false, true, 0, "", true},
                            {"gemma3_text", false, true, 20, "linear", true, true},
                            {"gpt_oss", true, false, 20, "yarn", false, false, true}};

Plan trained(const Family& family, Dtype dtype, Optimizer optimizer) {
    Plan plan = small_plan(family, dtype, 100, 32, 8);
    plan.recipe.optimizer = optimizer;
    if (dtype == Dtype::bf16) plan.recipe.gradients = plan.recipe.states = Dtype::fp32;
    return plan;
}

TEST(Homes, OfEveryFamilyGiveTheSameBits) {
    for (const Family& family : kFamilies) {
        Plan plan = trained(family, Dtype::fp32, Optimizer::adamw);
        expect_the_same_bits(plan, family.type);
        plan.decisions.activations = Activations::checkpoint_device;
        plan.decisions.wavefront = 2;
        plan.recipe.batch = 2;
        expect_the_same_bits(plan, family.type + ", checkpoints, two chunks in flight, two sequences");
    }
}

TEST(Homes, OfEveryOptimizerGiveTheSameBits) {
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adamw, Optimizer::adamw8bit}) {
        for (const bool master : {false, true}) {
            Plan plan = trained(kFamilies[0], Dtype::bf16, optimizer);
            plan.recipe.master_weights = master;
            expect_the_same_bits(plan, std::string(name_of(optimizer)) + (master ? ", master" : ""));
        }
    }
    // Gradients narrower than activations: rows of the embedding travel as sums, not as they were computed.
    Plan narrow = trained(kFamilies[0], Dtype::fp32, Optimizer::adamw);
    narrow.recipe.gradients = Dtype::bf16;
    expect_the_same_bits(narrow, "gradients in bf16");
}

TEST(Homes, OfAdaptersGiveTheSameBits) {
    Plan plan = trained(kFamilies[0], Dtype::fp32, Optimizer::adamw);
    plan.recipe.lora_rank = 4;
    plan.recipe.lora_targets = {"q", "v", "o", "down"};
    expect_the_same_bits(plan, "adapters");
}

// Sparse pages on the host besides: all that can travel does.
TEST(Homes, BesidePagesOnTheHostGiveTheSameBits) {
    Plan plan = sparse(trained(kFamilies[0], Dtype::fp32, Optimizer::adamw), 5, 8, 1, 2);
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = {0, 0, 0};
    plan.decisions.attention_outputs = AttentionOutputs::host;
    plan.decisions.activations = Activations::checkpoint_host;
    expect_the_same_bits(plan, "pages on the host");
}

// More parameters than one piece of the update has.
TEST(Homes, TheUpdateStreamsInPieces) {
    Plan plan = small_plan({"llama", false, true, 0, ""}, Dtype::bf16, 16, 8, 8);
    plan.model.vocabulary = 1'100'000;
    plan.recipe.optimizer = Optimizer::adamw8bit;
    plan.recipe.gradients = Dtype::bf16;
    plan.decisions.loss_tile = Tokens(4);
    const int64_t count = count_parameters(plan.model).total();
    ASSERT_GT(count, kUpdatePiece);
    ASSERT_LT(count, 2 * kUpdatePiece);
    at::Tensor weights;
    double norm = 0;
    for (const Homes& homes : {Homes{Home::device, Home::device, Home::device}, kHomes[5]}) {
        SmallRun run(with_homes(plan, homes));
        const StepResult result = run.step();
        if (!weights.defined()) {
            weights = run.executor->weights().clone();
            norm = result.gradient_norm;
            EXPECT_FALSE(at::equal(weights, random_weights(plan).to(at::kBFloat16)));
        }
        EXPECT_EQ(result.gradient_norm, norm);
        EXPECT_TRUE(at::equal(run.executor->weights(), weights));
    }
}

TEST(Homes, OnAGpuGiveTheSameBits) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    Plan plan = trained(kFamilies[0], Dtype::bf16, Optimizer::adamw);
    plan.decisions.deterministic = true;
    expect_the_same_bits(plan, "on a GPU", at::Device("cuda:0"));
}

}  // namespace
}  // namespace headroom::engine::test
