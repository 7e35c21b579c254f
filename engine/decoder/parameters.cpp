#include "decoder/parameters.h"

#include <functional>
#include <numeric>

namespace headroom::engine {

int64_t Parameter::elements() const {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<Parameter> parameter_list(const Model& m) {
    std::vector<Parameter> list;
    int64_t offset = 0;
    const auto add = [&](std::string name, std::vector<int64_t> shape) {
        Parameter p{std::move(name), std::move(shape), offset};
        offset += p.elements();
        list.push_back(std::move(p));
    };
    add("model.embed_tokens.weight", {m.vocabulary, m.hidden});
    for (int64_t l = 0; l < m.layer_count(); ++l) {
        const std::string layer = "model.layers." + std::to_string(l) + ".";
        add(layer + "input_layernorm.weight", {m.hidden});
        const std::vector<std::pair<std::string, int64_t>> inputs{
            {"q", m.q_size()}, {"k", m.kv_size()}, {"v", m.kv_size()}};
        for (const auto& [name, size] : inputs)
            add(layer + "self_attn." + name + "_proj.weight", {size, m.hidden});
        if (m.qkv_bias) {
            for (const auto& [name, size] : inputs) add(layer + "self_attn." + name + "_proj.bias", {size});
        }
        add(layer + "self_attn.o_proj.weight", {m.hidden, m.q_size()});
        if (m.output_bias) add(layer + "self_attn.o_proj.bias", {m.hidden});
        add(layer + "post_attention_layernorm.weight", {m.hidden});
        add(layer + "mlp.gate_proj.weight", {m.intermediate, m.hidden});
        add(layer + "mlp.up_proj.weight", {m.intermediate, m.hidden});
        add(layer + "mlp.down_proj.weight", {m.hidden, m.intermediate});
    }
    add("model.norm.weight", {m.hidden});
    if (!m.tied_embeddings) add("lm_head.weight", {m.vocabulary, m.hidden});
    return list;
}

ModelParameters parameters_in(const Model& m, const at::Tensor& flat) {
    int64_t offset = 0;
    const auto next = [&](at::IntArrayRef shape) {
        const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
        at::Tensor view = flat.narrow(0, offset, elements).view(shape);
        offset += elements;
        return view;
    };
    const int64_t qkv = m.q_size() + 2 * m.kv_size();
    ModelParameters p;
    p.embedding = next({m.vocabulary, m.hidden});
    for (int64_t l = 0; l < m.layer_count(); ++l) {
        LayerParameters w;
        w.input_norm = next({m.hidden});
        w.qkv = next({qkv, m.hidden});
        if (m.qkv_bias) w.qkv_bias = next({qkv});
        w.out = next({m.hidden, m.q_size()});
        if (m.output_bias) w.out_bias = next({m.hidden});
        w.mlp_norm = next({m.hidden});
        w.gate_up = next({2 * m.intermediate, m.hidden});
        w.down = next({m.hidden, m.intermediate});
        p.layers.push_back(std::move(w));
    }
    p.final_norm = next({m.hidden});
    p.head = m.tied_embeddings ? p.embedding : next({m.vocabulary, m.hidden});
    return p;
}

}  // namespace headroom::engine
