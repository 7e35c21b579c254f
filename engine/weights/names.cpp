#include "weights/names.h"

#include <utility>

#include "base/units.h"

namespace headroom {
namespace {

// Collects the weights below one prefix.
class Names {
public:
    Names(std::string prefix, std::vector<WeightSpec>& out) : prefix_(std::move(prefix)), out_(out) {}

    void add(const std::string& name, std::vector<int64_t> shape, WeightRole role) {
        out_.push_back({prefix_ + name, std::move(shape), role});
    }
    void linear(const std::string& name, int64_t in, int64_t out, bool bias) {
        add(name + ".weight", {out, in}, WeightRole::matrix);
        if (bias) add(name + ".bias", {out}, WeightRole::bias);
    }
    void norm(const std::string& name, int64_t size) { add(name + ".weight", {size}, WeightRole::norm); }

private:
    std::string prefix_;
    std::vector<WeightSpec>& out_;
};

void attention(const Model& m, Names& names) {
    names.linear("self_attn.q_proj", m.hidden, m.q_size(), m.qkv_bias);
    names.linear("self_attn.k_proj", m.hidden, m.kv_size(), m.qkv_bias);
    names.linear("self_attn.v_proj", m.hidden, m.kv_size(), m.qkv_bias);
    names.linear("self_attn.o_proj", m.q_size(), m.hidden, m.output_bias);
    if (m.qk_norm) {
        names.norm("self_attn.q_norm", m.head_dim);
        names.norm("self_attn.k_norm", m.head_dim);
    }
    if (m.attention_sinks) names.add("self_attn.sinks", {m.heads}, WeightRole::sink);
}

void gated_mlp(const std::string& name, int64_t hidden, int64_t inner, bool bias, Names& names) {
    names.linear(name + ".gate_proj", hidden, inner, bias);
    names.linear(name + ".up_proj", hidden, inner, bias);
    names.linear(name + ".down_proj", inner, hidden, bias);
}

// gpt_oss: all experts of a layer in one tensor, input before output.
void fused_experts(const Model& m, Names& names) {
    const Experts& e = m.experts;
    names.linear("mlp.router", m.hidden, e.count, e.router_bias);
    names.add("mlp.experts.gate_up_proj", {e.count, m.hidden, 2 * e.intermediate}, WeightRole::matrix);
    names.add("mlp.experts.gate_up_proj_bias", {e.count, 2 * e.intermediate}, WeightRole::bias);
    names.add("mlp.experts.down_proj", {e.count, e.intermediate, m.hidden}, WeightRole::matrix);
    names.add("mlp.experts.down_proj_bias", {e.count, m.hidden}, WeightRole::bias);
}

void mlp(const Model& m, const Layer& layer, Names& names) {
    if (!layer.mixture) return gated_mlp("mlp", m.hidden, m.intermediate, m.mlp_bias, names);
    if (m.experts.expert_bias) return fused_experts(m, names);
    names.linear("mlp.gate", m.hidden, m.experts.count, m.experts.router_bias);
    for (int64_t i = 0; i < m.experts.count; ++i)
        gated_mlp("mlp.experts." + std::to_string(i), m.hidden, m.experts.intermediate, false, names);
}

void norms(const Model& m, Names& names) {
    names.norm("input_layernorm", m.hidden);
    names.norm("post_attention_layernorm", m.hidden);
    if (m.norms_per_layer == 4) {
        names.norm("pre_feedforward_layernorm", m.hidden);
        names.norm("post_feedforward_layernorm", m.hidden);
    }
}

}  // namespace

int64_t elements_of(const WeightSpec& weight) {
    int64_t elements = 1;
    for (const int64_t size : weight.shape) elements = checked_mul(elements, size);
    return elements;
}

Result<std::vector<WeightSpec>> layer_weights_of(const Model& model, int64_t layer) {
    if (model.latent.kv_rank > 0 || model.experts.shared > 0)
        return fail(
            model.name, "model type '" + model.type + "'",
            "without latent attention and shared experts: llama, mistral, qwen2, qwen3, qwen3_moe, gpt_oss, "
            "gemma3");
    std::vector<WeightSpec> out;
    Names names("model.layers." + std::to_string(layer) + ".", out);
    attention(model, names);
    mlp(model, model.layers[static_cast<size_t>(layer)], names);
    norms(model, names);
    return out;
}

Result<std::vector<WeightSpec>> weights_of(const Model& model) {
    std::vector<WeightSpec> out;
    Names names("", out);
    names.add("model.embed_tokens.weight", {model.vocabulary, model.hidden}, WeightRole::matrix);
    for (int64_t layer = 0; layer < model.layer_count(); ++layer) {
        HEADROOM_TRY(std::vector<WeightSpec> weights, layer_weights_of(model, layer));
        for (WeightSpec& weight : weights) out.push_back(std::move(weight));
    }
    names.norm("model.norm", model.hidden);
    if (!model.tied_embeddings) names.linear("lm_head", model.hidden, model.vocabulary, false);
    return out;
}

}  // namespace headroom
