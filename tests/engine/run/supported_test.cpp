// What the engine does not run is refused by its key, never run as something else.
#include "run/supported.h"

#include <functional>

#include "engine/run/small_model.h"

namespace headroom::engine::test {
namespace {

TEST(Supported, RefusalsNameTheKey) {
    const Plan good = small_plan({"qwen2", true, false, 0, ""}, Dtype::bf16, 96, 32, 8);
    ASSERT_TRUE(check_supported(good));
    struct Case {
        const char* key;
        std::function<void(Plan&)> change;
    };
    const std::vector<Case> cases{
        {"model", [](Plan& p) { p.model.type = "deepseek_v3"; }},
        {"model", [](Plan& p) { p.model.rope.scaling = "dynamic"; }},
        {"model", [](Plan& p) { p.model.layers[1].mixture = true; }},
        {"model", [](Plan& p) { p.model.activation = "gelu"; }},
        {"model", [](Plan& p) { p.model.activation_limit = 7; }},
        {"model", [](Plan& p) { p.model.mlp_bias = true; }},
        {"plan.strategy", [](Plan& p) { p.decisions.strategy = "layer-major"; }},
        {"plan.page_copy", [](Plan& p) { p.decisions.page_copy = PageCopy::gather; }},
        {"plan.weights_home", [](Plan& p) { p.decisions.weights_home = Home::ranks; }},
        {"plan.gradients_home", [](Plan& p) { p.decisions.gradients_home = Home::ranks; }},
        {"plan.states_home", [](Plan& p) { p.decisions.states_home = Home::ranks; }},
        {"plan.gradient_pages", [](Plan& p) { p.decisions.gradient_pages = GradientPages::all_at_once; }},
        {"plan.kv_dtype", [](Plan& p) { p.decisions.kv = Dtype::fp16; }},
        {"plan.kv_dtype",
         [](Plan& p) {
             p.decisions.kv = Dtype::fp8;
             p.model.head_dim = 24;
         }},
        {"plan.kv_gradients_dtype", [](Plan& p) { p.decisions.kv_gradients = Dtype::fp8; }},
        {"plan.kv_gradients_dtype", [](Plan& p) { p.decisions.kv_gradients = Dtype::fp64; }},
        {"plan.page",
         [](Plan& p) {
             p.decisions.kv_gradients = Dtype::fp32;
             p.decisions.page = Tokens(1);
         }},
        {"plan.fill_head", [](Plan& p) { p.decisions.fill_head = true; }},
        {"training.master",
         [](Plan& p) {
             p.decisions.weights = p.decisions.kv = p.decisions.kv_gradients = Dtype::fp64;
             p.recipe.master_weights = true;
         }},
    };
    for (const Case& c : cases) {
        Plan p = good;
        c.change(p);
        const Result<void> r = check_supported(p);
        ASSERT_FALSE(r) << c.key;
        EXPECT_EQ(r.error().where, std::string("key '") + c.key + "'");
        EXPECT_EQ(r.error().fault, Fault::bad_input);
    }
}

}  // namespace
}  // namespace headroom::engine::test
