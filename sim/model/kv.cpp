// Bytes of keys and values.
#include <algorithm>

#include "model/model.h"

namespace headroom {

int64_t kv_values_per_token(const Model& m) {
    return m.latent.kv_rank > 0 ? m.latent.kv_rank + m.latent.rope_dim : 2 * m.kv_size();
}

Bytes kv_bytes_per_token(const Model& m, Dtype dtype) {
    return bytes_of(dtype, kv_values_per_token(m)) * m.layer_count();
}

Bytes kv_bytes(const Model& m, const Layer& layer, Dtype dtype, Tokens context, bool honour_windows) {
    const int64_t kept =
        honour_windows && layer.window > 0 ? std::min(layer.window, context.count()) : context.count();
    return bytes_of(dtype, kv_values_per_token(m)) * kept;
}

Bytes kv_bytes(const Model& m, Dtype dtype, Tokens context, bool honour_windows) {
    Bytes sum;
    for (const Layer& layer : m.layers) sum += kv_bytes(m, layer, dtype, context, honour_windows);
    return sum;
}

}  // namespace headroom
