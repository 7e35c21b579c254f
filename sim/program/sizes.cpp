// Sizes of one rank: elements, parameters, bytes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "program/layer.h"

namespace headroom {

RankSizes::RankSizes(const Plan& plan) {
    const Model& m = plan.model;
    const int64_t ranks = plan.decisions.tensor_ranks;
    hidden = m.hidden;
    q = m.q_size() / ranks;
    kv = m.kv_size() / ranks;
    heads = m.heads / ranks;
    kv_heads = m.kv_heads / ranks;
    head_dim = m.head_dim;
    vocabulary = ceil_div(m.vocabulary, ranks);
    inner = ceil_div(m.intermediate, ranks);
    expert_inner = ceil_div(m.experts.intermediate, ranks);
    element = bytes_of(plan.decisions.weights, 1).count();
    sum = std::max<int64_t>(4, element);
}

int64_t RankSizes::gate_up(const Model& model, const Layer& layer) const {
    if (!layer.mixture) return 2 * inner;
    return 2 * expert_inner * (model.experts.per_token + model.experts.shared);
}

int64_t rope_tables_of_kind(const Model& model) {
    return model.query_scalar > 0 ? 2 : 1;
}

int64_t rope_kinds(const Model& model) {
    const auto windowed = [](const Layer& l) { return l.window > 0; };
    return model.rope.local_theta > 0 && std::any_of(model.layers.begin(), model.layers.end(), windowed) &&
                   !std::all_of(model.layers.begin(), model.layers.end(), windowed)
               ? 2
               : 1;
}

namespace {

// LoRA parameters of one layer on one rank: rank x (in + out) for each target.
int64_t adapter_parameters(const Plan& plan, const RankSizes& s, const Layer& layer) {
    int64_t inputs_and_outputs = 0;
    for (const std::string& target : plan.recipe.lora_targets) {
        if (target == "q") inputs_and_outputs += s.hidden + s.q;
        if (target == "k" || target == "v") inputs_and_outputs += s.hidden + s.kv;
        if (target == "o") inputs_and_outputs += s.q + s.hidden;
        if (layer.mixture) continue;  // adapters of experts are not planned
        if (target == "gate" || target == "up" || target == "down") inputs_and_outputs += s.hidden + s.inner;
    }
    return plan.recipe.lora_rank * inputs_and_outputs;
}

}  // namespace

ParameterUnits::ParameterUnits(const Plan& plan) {
    const Model& m = plan.model;
    const RankSizes s(plan);
    const int64_t ranks = plan.decisions.tensor_ranks;
    embedding = s.vocabulary * m.hidden;
    head = m.tied_embeddings ? 0 : s.vocabulary * m.hidden;
    final_norm = m.hidden;
    for (const Layer& layer : m.layers) {
        const int64_t norms = m.norms_per_layer * m.hidden + (m.qk_norm ? 2 * m.head_dim : 0);
        const int64_t all = layer_parameters(m, layer);
        const int64_t mine = ceil_div(all - norms, ranks) + norms;
        const int64_t lora = plan.recipe.lora_rank > 0 ? adapter_parameters(plan, s, layer) : 0;
        layers.push_back(mine);
        adapters += lora;
        trainable_layers.push_back(plan.recipe.lora_rank > 0 ? lora : mine);
    }
    trainable_rest = plan.recipe.lora_rank > 0 ? 0 : embedding + head + final_norm;
}

int64_t ParameterUnits::total() const {
    return std::accumulate(layers.begin(), layers.end(), embedding + head + final_norm + adapters);
}

int64_t ParameterUnits::trainable() const {
    return std::accumulate(trainable_layers.begin(), trainable_layers.end(), trainable_rest);
}

ParameterBytes::ParameterBytes(const Plan& plan)
    : weight(bytes_of(plan.decisions.weights, 1).count()),
      gradient(bytes_of(plan.recipe.gradients, 1).count()),
      state_(0),
      block_(0) {
    const int64_t moment = bytes_of(plan.recipe.states, 1).count();
    switch (plan.recipe.optimizer) {
        case Optimizer::none:
        case Optimizer::sgd:
            break;
        case Optimizer::adamw:
            state_ = 2 * moment;
            break;
        case Optimizer::adamw8bit:
            state_ = 2;
            block_ = 2 * 4;
            break;
    }
    if (plan.recipe.master_weights && plan.recipe.optimizer != Optimizer::none) state_ += 4;
}

Bytes ParameterBytes::states_of(int64_t parameters) const {
    return Bytes(
        checked_add(checked_mul(state_, parameters), checked_mul(block_, ceil_div(parameters, kStateBlock))));
}

double own_keys_seen(int64_t tokens, int64_t window) {
    const double t = static_cast<double>(tokens), w = static_cast<double>(window);
    if (window == 0 || window >= tokens) return t * (t + 1) / 2;
    return w * (w + 1) / 2 + (t - w) * w;
}

double past_keys_seen(int64_t tokens, int64_t past, int64_t window) {
    if (window == 0) return static_cast<double>(tokens) * static_cast<double>(past);
    // Query i of the chunk still sees min(past, window - 1 - i) keys of the past.
    const int64_t reaching = std::min(tokens, window - 1);  // queries that see any
    const int64_t whole =
        std::clamp<int64_t>(window - 1 - past + 1, 0, reaching);  // queries that see all of it
    double seen = static_cast<double>(whole) * static_cast<double>(past);
    const int64_t rest = reaching - whole;  // see window - 1 - i, i = whole .. reaching - 1
    seen += static_cast<double>(rest) * static_cast<double>(window - 1) -
            static_cast<double>(whole + reaching - 1) * static_cast<double>(rest) / 2;
    return seen;
}

int64_t visible_past(int64_t past, int64_t window) {
    return window == 0 ? past : std::min(past, std::max<int64_t>(0, window - 1));
}

}  // namespace headroom
