// FLOPs of a forward pass: two for each weight of a matrix product and each token, biases aside. Norms,
// rotary embedding, softmax and activations are not counted.
#include "model/model.h"

namespace headroom {
namespace {

double real(int64_t size) {
    return static_cast<double>(size);
}

// Weights of the attention's projections, and FLOPs of QK^T and PV for one query and one key.
struct AttentionWork {
    double weights = 0, per_key = 0;
};

AttentionWork attention_work(const Model& m) {
    if (m.latent.kv_rank == 0)
        return {real(m.hidden) * real(2 * m.q_size() + 2 * m.kv_size()), 4 * real(m.q_size())};
    // As training computes it: keys and values of all heads are projected from the latent.
    const LatentAttention& a = m.latent;
    const double q = real(m.heads * (a.nope_dim + a.rope_dim)), v = real(m.heads * a.v_dim);
    AttentionWork work;
    work.weights = a.q_rank > 0 ? real(a.q_rank) * (real(m.hidden) + q) : real(m.hidden) * q;
    work.weights += real(m.hidden) * real(a.kv_rank + a.rope_dim);
    work.weights += real(a.kv_rank) * (real(m.heads * a.nope_dim) + v) + v * real(m.hidden);
    work.per_key = 2 * (q + v);
    return work;
}

double mlp_weights(const Model& m, const Layer& layer) {
    if (!layer.mixture) return 3 * real(m.hidden) * real(m.intermediate);
    const Experts& e = m.experts;
    return real(m.hidden) * (real(e.count) + 3 * real((e.per_token + e.shared) * e.intermediate));
}

}  // namespace

double attended_keys(const Layer& layer, Tokens context) {
    const double n = real(context.count()), w = real(layer.window);
    if (layer.window == 0 || layer.window >= context.count()) return n * (n + 1) / 2;
    return w * (w + 1) / 2 + (n - w) * w;
}

Flops forward_flops(const Model& m, Tokens context) {
    const double tokens = real(context.count());
    const AttentionWork work = attention_work(m);
    Flops f;
    f.attention_projections = 2 * tokens * work.weights * real(m.layer_count());
    for (const Layer& layer : m.layers) {
        f.attention += work.per_key * attended_keys(layer, context);
        f.mlp += 2 * tokens * mlp_weights(m, layer);
    }
    f.head = 2 * tokens * real(m.hidden) * real(m.vocabulary);
    return f;
}

}  // namespace headroom
