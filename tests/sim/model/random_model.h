// Arbitrary small models for properties, dense or with experts, windowed or not.
#pragma once

#include <rapidcheck.h>

#include "model/model.h"

namespace headroom::test {

inline Model random_model() {
    const auto size = [](int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); };
    const auto coin = [] { return *rc::gen::arbitrary<bool>(); };
    Model m;
    m.hidden = size(1, 64);
    m.vocabulary = size(1, 200);
    m.tied_embeddings = coin();
    m.kv_heads = size(1, 4);
    m.heads = m.kv_heads * size(1, 4);
    m.head_dim = size(1, 16);
    m.intermediate = size(1, 100);
    m.qkv_bias = coin(), m.output_bias = coin(), m.mlp_bias = coin();
    m.qk_norm = coin(), m.attention_sinks = coin();
    m.norms_per_layer = coin() ? 2 : 4;
    m.experts.count = size(1, 8);
    m.experts.per_token = size(1, m.experts.count);
    m.experts.intermediate = size(1, 50);
    m.experts.shared = size(0, 2);
    m.experts.router_bias = coin(), m.experts.expert_bias = coin();
    m.layers.resize(static_cast<size_t>(size(1, 6)));
    for (Layer& layer : m.layers) layer = {size(0, 20), coin()};
    return m;
}

}  // namespace headroom::test
