#include "run/supported.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/text.h"
#include "program/page_units.h"

namespace headroom::engine {
namespace {

Result<void> refuse(const std::string& key, const std::string& found, const std::string& allowed) {
    return fail("key '" + key + "'", found, allowed + " (what the engine runs today)");
}

Result<void> check_model(const Model& m) {
    static const std::set<std::string> families{"qwen2",  "qwen3",       "llama",  "mistral",
                                                "gemma3", "gemma3_text", "gpt_oss"};
    if (!families.contains(m.type))
        return refuse("model", "model type '" + m.type + "'", "qwen2, qwen3, llama, mistral or gemma3");
    static const std::set<std::string> scalings{"", "default", "linear", "llama3", "yarn"};
    if (!scalings.contains(m.rope.scaling))
        return refuse("model", "rope scaling '" + m.rope.scaling + "'", "none, linear, llama3 or yarn");
    // gpt_oss is known by its attention; its MLPs are experts.
    for (const Layer& layer : m.layers) {
        if (layer.mixture) return refuse("model", "a mixture of experts", "dense MLPs");
    }
    if (m.activation != "silu" && m.activation != "gelu_pytorch_tanh")
        return refuse("model", "activation '" + m.activation + "'", "silu or gelu_pytorch_tanh");
    if (m.activation_limit > 0) return refuse("model", "an activation that is clamped", "one that is not");
    if (m.mlp_bias) return refuse("model", "biases in the MLP", "none");
    return {};
}

// What the optimizer computes with.
Result<void> check_formats(const Plan& plan) {
    const Dtype weights = plan.decisions.weights;
    if (weights != Dtype::fp64 && weights != Dtype::fp32 && weights != Dtype::bf16)
        return refuse("plan.weights_dtype", "'" + std::string(name_of(weights)) + "'", "fp64, fp32, bf16");
    // On a GPU sums are taken in fp32.
    const Dtype pages = plan.decisions.kv_gradients;
    if (pages != Dtype::fp32 && pages != Dtype::bf16 && (pages != Dtype::fp64 || weights != Dtype::fp64))
        return refuse("plan.kv_gradients_dtype", "'" + std::string(name_of(pages)) + "'",
                      "fp32, bf16, or fp64 beside weights in fp64");
    const PageUnits units = page_units(plan);
    const int64_t parts = std::max(units.kv, units.gradient);
    if (plan.decisions.page.count() % parts != 0)
        return refuse("plan.page", std::to_string(plan.decisions.page.count()) + " tokens",
                      "a multiple of " + std::to_string(parts) +
                          ", as pages of K and V and of their gradients "
                          "differ in size");
    const Recipe& r = plan.recipe;
    if (r.master_weights && (weights == Dtype::fp64 || r.states == Dtype::fp64))
        return refuse("training.master", "fp32 master weights beside fp64", "fp32 and bf16");
    return {};
}

}  // namespace

Result<void> check_supported(const Plan& plan) {
    HEADROOM_CHECK(check_model(plan.model));
    const Decisions& d = plan.decisions;
    if (d.strategy != "chunked" && d.strategy != "whole-sequence")
        return refuse("plan.strategy", "'" + d.strategy + "'", "'chunked' or 'whole-sequence'");
    if (d.page_copy == PageCopy::gather && !d.attention.sparse)
        return refuse("plan.page_copy", "'gather', and attention is dense", "'batch' or 'loop'");
    if (d.load_gradients_forward) return refuse("plan.load_gradients_forward", "true", "false");
    if (d.write_back_clean) return refuse("plan.write_back_clean", "true", "false");
    for (const auto& [key, home] : {std::pair{"plan.weights_home", d.weights_home},
                                    {"plan.gradients_home", d.gradients_home},
                                    {"plan.states_home", d.states_home}}) {
        if (home == Home::ranks) return refuse(key, "'ranks'", "'device' or 'host'");
    }
    if (d.gradient_pages != GradientPages::first_touch)
        return refuse("plan.gradient_pages", "'all_at_once'", "'first_touch'");
    const bool narrower = d.kv == Dtype::bf16 && (d.weights == Dtype::fp32 || d.weights == Dtype::fp64);
    if (d.kv != d.weights && !packs_pages(plan) && !narrower)
        return refuse("plan.kv_dtype", "'" + std::string(name_of(d.kv)) + "'",
                      "'fp8', the dtype of the weights, or 'bf16' beside wider ones");
    if (packs_pages(plan) && plan.model.head_dim % 16 != 0)
        return refuse("plan.kv_dtype",
                      "'fp8', and heads have " + std::to_string(plan.model.head_dim) + " values",
                      "heads of a multiple of 16 values");
    if (d.fill_head) return refuse("plan.fill_head", "true", "false");
    if (d.logits_fp32 != 0) return refuse("plan.logits_fp32", "copies", "0");
    return check_formats(plan);
}

}  // namespace headroom::engine
