// gpt_oss: a window on every second layer, attention sinks, experts with biases in every layer.
// Source: transformers, models/gpt_oss.
#include "model/families/common.h"
#include "model/families/family.h"

namespace headroom {

Result<void> read_gpt_oss(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m,
                               {.kv_heads = 8,
                                .head_dim = 64,
                                .max_context = 131072,
                                .rope_theta = 150000.0,
                                .norm_epsilon = 1e-5}));
    HEADROOM_CHECK(read_attention_bias(config, m, true));
    m.attention_sinks = true;
    HEADROOM_TRY(m.activation_limit, read_real(config, "swiglu_limit", 7));
    Experts& e = m.experts;
    HEADROOM_TRY(e.count, read_size(config, "num_local_experts", kMostExperts));
    HEADROOM_TRY(e.per_token, read_size(config, "num_experts_per_tok", e.count));
    e.intermediate = m.intermediate;
    e.router_bias = e.expert_bias = e.normalized = true;
    for (Layer& layer : m.layers) layer.mixture = true;
    HEADROOM_TRY(const int64_t window, read_window(config, 128));
    return read_windows(config, m, window, [](int64_t layer) { return layer % 2 == 0; });
}

}  // namespace headroom
