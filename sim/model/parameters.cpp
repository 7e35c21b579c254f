// Parameters, exact to the one. Shapes are those of the modules in Hugging Face transformers.
#include "model/model.h"

namespace headroom {
namespace {

int64_t attention_parameters(const Model& m) {
    const int64_t h = m.hidden;
    int64_t count = 0;
    if (m.latent.kv_rank > 0) {
        const LatentAttention& a = m.latent;
        const int64_t q = m.heads * (a.nope_dim + a.rope_dim);
        count += a.q_rank > 0 ? h * a.q_rank + a.q_rank + a.q_rank * q : h * q;
        count += h * (a.kv_rank + a.rope_dim) + a.kv_rank;          // down-projection and its norm
        count += a.kv_rank * m.heads * (a.nope_dim + a.v_dim);      // up-projection
        count += m.heads * a.v_dim * h;
        return count;
    }
    count += h * (m.q_size() + 2 * m.kv_size()) + m.q_size() * h;
    if (m.qkv_bias) count += m.q_size() + 2 * m.kv_size();
    if (m.output_bias) count += h;
    if (m.qk_norm) count += 2 * m.head_dim;
    if (m.attention_sinks) count += m.heads;
    return count;
}

// `experts`: how many routed experts to count (all, or those that a token visits).
int64_t mlp_parameters(const Model& m, const Layer& layer, int64_t experts) {
    const int64_t h = m.hidden;
    if (!layer.mixture) return 3 * h * m.intermediate + (m.mlp_bias ? 2 * m.intermediate + h : 0);
    const Experts& e = m.experts;
    const int64_t one = 3 * h * e.intermediate + (e.expert_bias ? 2 * e.intermediate + h : 0);
    return h * e.count + (e.router_bias ? e.count : 0) + (experts + e.shared) * one;
}

}  // namespace

int64_t layer_parameters(const Model& m, const Layer& layer) {
    return attention_parameters(m) + mlp_parameters(m, layer, m.experts.count) + m.norms_per_layer * m.hidden;
}

Parameters count_parameters(const Model& m) {
    Parameters p;
    p.embedding = m.vocabulary * m.hidden;
    p.head = m.tied_embeddings ? 0 : m.vocabulary * m.hidden;
    p.norms = m.hidden;
    int64_t visited = 0;
    for (const Layer& layer : m.layers) {
        p.attention += attention_parameters(m);
        p.mlp += mlp_parameters(m, layer, m.experts.count);
        visited += mlp_parameters(m, layer, m.experts.per_token);
        p.norms += m.norms_per_layer * m.hidden;
    }
    p.active = p.total() - p.mlp + visited;
    return p;
}

}  // namespace headroom
