#include "decoder/parameters.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace headroom::engine {

bool norms_add_one(const Model& model) {
    return model.type.starts_with("gemma3");
}

double embedding_scale(const Model& model) {
    return model.type.starts_with("gemma3") ? std::sqrt(static_cast<double>(model.hidden)) : 1;
}

std::vector<Parameter> parameter_list(const Model& model) {
    Result<std::vector<WeightSpec>> weights = weights_of(model);
    TORCH_CHECK(weights.has_value(), "the engine has no names for the weights of ", model.name);
    std::stable_partition(weights->begin(), weights->end(),
                          [](const WeightSpec& w) { return w.role != WeightRole::bias; });
    std::vector<Parameter> list;
    int64_t offset = 0;
    for (WeightSpec& weight : *weights) {
        const int64_t elements = elements_of(weight);
        list.push_back({std::move(weight), offset});
        offset += elements;
    }
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
        w.qkv = next({qkv, m.hidden});
        w.out = next({m.hidden, m.q_size()});
        if (m.qk_norm) {
            w.q_norm = next({m.head_dim});
            w.k_norm = next({m.head_dim});
        }
        if (m.attention_sinks) w.sinks = next({m.heads});
        w.gate_up = next({2 * m.intermediate, m.hidden});
        w.down = next({m.hidden, m.intermediate});
        w.input_norm = next({m.hidden});
        if (m.norms_per_layer == 4) w.post_attention_norm = next({m.hidden});
        w.mlp_norm = next({m.hidden});
        if (m.norms_per_layer == 4) w.post_mlp_norm = next({m.hidden});
        p.layers.push_back(std::move(w));
    }
    p.final_norm = next({m.hidden});
    p.head = m.tied_embeddings ? p.embedding : next({m.vocabulary, m.hidden});
    for (LayerParameters& w : p.layers) {
        if (m.qkv_bias) w.qkv_bias = next({qkv});
        if (m.output_bias) w.out_bias = next({m.hidden});
    }
    return p;
}

}  // namespace headroom::engine
