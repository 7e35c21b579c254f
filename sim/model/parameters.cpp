// Parameters, exact to the one. Shapes are those of the modules in Hugging Face transformers; what the
// published weights do not hold (rotary frequencies) is none.
#include "model/model.h"

namespace headroom {
namespace {

int64_t linear(int64_t in, int64_t out, bool bias = false) {
    return in * out + (bias ? out : 0);
}

int64_t latent_attention(const Model& m) {
    const LatentAttention& a = m.latent;
    const int64_t q = m.heads * (a.nope_dim + a.rope_dim);
    // Each down-projection ends in a norm of its rank.
    int64_t count = a.q_rank > 0 ? linear(m.hidden, a.q_rank, m.qkv_bias) + a.q_rank + linear(a.q_rank, q)
                                 : linear(m.hidden, q);
    count += linear(m.hidden, a.kv_rank + a.rope_dim, m.qkv_bias) + a.kv_rank;
    count += linear(a.kv_rank, m.heads * (a.nope_dim + a.v_dim));
    return count + linear(m.heads * a.v_dim, m.hidden, m.output_bias);
}

int64_t attention(const Model& m) {
    if (m.latent.kv_rank > 0) return latent_attention(m);
    return linear(m.hidden, m.q_size() + 2 * m.kv_size(), m.qkv_bias) +
           linear(m.q_size(), m.hidden, m.output_bias) + (m.qk_norm ? 2 * m.head_dim : 0) +
           (m.attention_sinks ? m.heads : 0);
}

// Gate, up and down projection.
int64_t gated_mlp(int64_t hidden, int64_t inner, bool bias) {
    return 2 * linear(hidden, inner, bias) + linear(inner, hidden, bias);
}

// `routed`: how many routed experts to count (all, or those that a token visits).
int64_t mlp(const Model& m, const Layer& layer, int64_t routed) {
    if (!layer.mixture) return gated_mlp(m.hidden, m.intermediate, m.mlp_bias);
    const Experts& e = m.experts;
    return linear(m.hidden, e.count, e.router_bias) +
           (routed + e.shared) * gated_mlp(m.hidden, e.intermediate, e.expert_bias);
}

}  // namespace

int64_t layer_parameters(const Model& m, const Layer& layer) {
    return attention(m) + mlp(m, layer, m.experts.count) + m.norms_per_layer * m.hidden;
}

Parameters count_parameters(const Model& m) {
    Parameters p;
    p.embedding = m.vocabulary * m.hidden;
    p.head = m.tied_embeddings ? 0 : p.embedding;
    p.attention = attention(m) * m.layer_count();
    p.norms = (m.norms_per_layer * m.layer_count() + 1) * m.hidden;
    int64_t visited = 0;
    for (const Layer& layer : m.layers) {
        p.mlp += mlp(m, layer, m.experts.count);
        visited += mlp(m, layer, m.experts.per_token);
    }
    p.active = p.total() - p.mlp + visited;
    return p;
}

}  // namespace headroom
