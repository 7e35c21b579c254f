#include "model/check.h"

#include <algorithm>

#include "base/text.h"

namespace headroom {
namespace {

constexpr int64_t kMostKvValues = int64_t{1} << 28;
constexpr int64_t kMostWidths = int64_t{1} << 27;
constexpr int64_t kMostParameters = int64_t{1} << 50;

// What one token leaves in a layer besides K and V, up to a small factor.
int64_t width(const Model& m) {
    const int64_t experts = (m.experts.per_token + m.experts.shared) * m.experts.intermediate;
    return m.hidden + m.q_size() + std::max(m.intermediate, experts);
}

}  // namespace

Result<void> check_sizes(const SizePlaces& at, const Model& m) {
    const std::string layers = " in each of " + std::to_string(m.layer_count()) + " layers";
    const int64_t head = std::max({m.head_dim, m.latent.v_dim, m.latent.nope_dim + m.latent.v_dim});
    if (head > kMostWidth / m.heads) {
        return fail(at.heads, format_integer(m.heads) + " heads of " + format_integer(head),
                    "at most " + format_integer(kMostWidth) + " values in all heads of a layer");
    }
    if (kv_values_per_token(m) > kMostKvValues / m.layer_count()) {
        return fail(at.kv_heads, format_integer(kv_values_per_token(m)) + " values of K and V" + layers,
                    "at most " + format_integer(kMostKvValues) + " a token");
    }
    if (width(m) > kMostWidths / m.layer_count()) {
        return fail(at.layers, "a width of " + format_integer(width(m)) + layers,
                    "hidden size + all query heads + MLP at most " + format_integer(kMostWidths) +
                        " over all layers");
    }
    for (const Layer& layer : m.layers) {
        if (layer_parameters(m, layer) > kMostParameters / m.layer_count()) {
            return fail(at.layers, format_integer(layer_parameters(m, layer)) + " parameters" + layers,
                        "at most " + format_integer(kMostParameters) + " parameters");
        }
    }
    return {};
}

}  // namespace headroom
