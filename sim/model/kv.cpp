// Bytes of keys and values.
#include <algorithm>

#include "model/model.h"

namespace headroom {

int64_t kv_values_per_token(const Model& m) {
    return m.latent.kv_rank > 0 ? m.latent.kv_rank + m.latent.rope_dim : 2 * m.kv_size();
}

namespace {

// A block format pads each stored row: K and V are two, the latent and its rope part are one.
Bytes row_bytes(const Model& m, Dtype dtype) {
    return m.latent.kv_rank > 0 ? bytes_of(dtype, kv_values_per_token(m)) : bytes_of(dtype, m.kv_size()) * 2;
}

}  // namespace

Bytes kv_bytes_per_token(const Model& m, Dtype dtype) {
    return row_bytes(m, dtype) * m.layer_count();
}

Bytes kv_bytes(const Model& m, const Layer& layer, Dtype dtype, Tokens context, bool honour_windows) {
    const int64_t kept =
        honour_windows && layer.window > 0 ? std::min(layer.window, context.count()) : context.count();
    return row_bytes(m, dtype) * kept;
}

Bytes kv_bytes(const Model& m, Dtype dtype, Tokens context, bool honour_windows) {
    Bytes sum;
    for (const Layer& layer : m.layers) sum += kv_bytes(m, layer, dtype, context, honour_windows);
    return sum;
}

}  // namespace headroom
