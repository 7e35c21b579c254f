// FLOPs of a forward pass. A multiply-add counts 2; norms, rotary embedding and softmax are not counted.
#include <algorithm>

#include "model/model.h"

namespace headroom {

double attended_keys(const Layer& layer, Tokens context) {
    const double n = static_cast<double>(context.count());
    const double w = static_cast<double>(layer.window);
    if (layer.window == 0 || layer.window >= context.count()) return n * (n + 1) / 2;
    return w * (w + 1) / 2 + (n - w) * w;
}

Flops forward_flops(const Model& m, Tokens context) {
    const double n = static_cast<double>(context.count()), h = static_cast<double>(m.hidden);
    const double heads = static_cast<double>(m.heads);
    const LatentAttention& a = m.latent;
    const bool latent = a.kv_rank > 0;
    // Projections: two FLOPs for each weight, biases and norms aside.
    double weights = 0, per_key = 0;
    if (latent) {
        const double q = heads * static_cast<double>(a.nope_dim + a.rope_dim), rank = static_cast<double>(a.kv_rank);
        const double q_rank = static_cast<double>(a.q_rank);
        weights = (a.q_rank > 0 ? h * q_rank + q_rank * q : h * q) + h * (rank + static_cast<double>(a.rope_dim)) +
                  rank * heads * static_cast<double>(a.nope_dim + a.v_dim) + heads * static_cast<double>(a.v_dim) * h;
        per_key = 2 * heads * static_cast<double>(a.nope_dim + a.rope_dim + a.v_dim);
    } else {
        weights = h * static_cast<double>(2 * m.q_size() + 2 * m.kv_size());
        per_key = 4 * static_cast<double>(m.q_size());
    }
    Flops f;
    for (const Layer& layer : m.layers) {
        f.attention_projections += 2 * n * weights;
        f.attention += per_key * attended_keys(layer, context);
        if (layer.mixture) {
            const Experts& e = m.experts;
            f.mlp += 2 * n * h * static_cast<double>(e.count) +
                     6 * n * h * static_cast<double>(e.intermediate) * static_cast<double>(e.per_token + e.shared);
        } else {
            f.mlp += 6 * n * h * static_cast<double>(m.intermediate);
        }
    }
    f.head = 2 * n * h * static_cast<double>(m.vocabulary);
    return f;
}

}  // namespace headroom
