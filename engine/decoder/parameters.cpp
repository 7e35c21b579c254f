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

namespace {

// Views one after the other in a flat buffer.
class Cursor {
public:
    explicit Cursor(at::Tensor flat, int64_t offset = 0) : flat_(std::move(flat)), offset_(offset) {}
    at::Tensor next(at::IntArrayRef shape) {
        const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
        at::Tensor view = flat_.narrow(0, offset_, elements).view(shape);
        offset_ += elements;
        return view;
    }

private:
    at::Tensor flat_;
    int64_t offset_;
};

void take_matrices_and_norms(const Model& m, Cursor& at, LayerParameters& w) {
    w.qkv = at.next({m.q_size() + 2 * m.kv_size(), m.hidden});
    w.out = at.next({m.hidden, m.q_size()});
    if (m.qk_norm) {
        w.q_norm = at.next({m.head_dim});
        w.k_norm = at.next({m.head_dim});
    }
    if (m.attention_sinks) w.sinks = at.next({m.heads});
    w.gate_up = at.next({2 * m.intermediate, m.hidden});
    w.down = at.next({m.hidden, m.intermediate});
    w.input_norm = at.next({m.hidden});
    if (m.norms_per_layer == 4) w.post_attention_norm = at.next({m.hidden});
    w.mlp_norm = at.next({m.hidden});
    if (m.norms_per_layer == 4) w.post_mlp_norm = at.next({m.hidden});
}

void take_biases(const Model& m, Cursor& at, LayerParameters& w) {
    if (m.qkv_bias) w.qkv_bias = at.next({m.q_size() + 2 * m.kv_size()});
    if (m.output_bias) w.out_bias = at.next({m.hidden});
}

}  // namespace

ModelParameters parameters_in(const Model& m, const at::Tensor& flat) {
    Cursor at(flat);
    ModelParameters p;
    p.embedding = at.next({m.vocabulary, m.hidden});
    p.layers.resize(m.layers.size());
    for (LayerParameters& w : p.layers) take_matrices_and_norms(m, at, w);
    p.final_norm = at.next({m.hidden});
    p.head = m.tied_embeddings ? p.embedding : at.next({m.vocabulary, m.hidden});
    for (LayerParameters& w : p.layers) take_biases(m, at, w);
    return p;
}

LayerRange layer_range(const Model& m, int64_t layer) {
    const int64_t qkv = m.q_size() + 2 * m.kv_size(), embedding = m.vocabulary * m.hidden;
    const int64_t norms =
        m.norms_per_layer * m.hidden + (m.qk_norm ? 2 * m.head_dim : 0) + (m.attention_sinks ? m.heads : 0);
    LayerRange r;
    r.count = m.hidden * (qkv + m.q_size() + 3 * m.intermediate) + norms;
    r.first = embedding + layer * r.count;
    r.bias_count = (m.qkv_bias ? qkv : 0) + (m.output_bias ? m.hidden : 0);
    r.bias_first = embedding + m.layer_count() * r.count + m.hidden + (m.tied_embeddings ? 0 : embedding) +
                   layer * r.bias_count;
    return r;
}

LayerParameters layer_in(const Model& m, const at::Tensor& flat) {
    Cursor at(flat);
    LayerParameters w;
    take_matrices_and_norms(m, at, w);
    take_biases(m, at, w);
    return w;
}

}  // namespace headroom::engine
