// gpt_oss: windows on every second layer, attention sinks, mixture of experts with biases.
// Source: transformers, models/gpt_oss.
#include "model/types/type.h"

namespace headroom {

Result<void> read_gpt_oss(ConfigTable& config, Model& m) {
    CommonDefaults defaults;
    defaults.head_dim = 64;
    defaults.rope_theta = 150000.0;
    defaults.norm_epsilon = 1e-5;
    HEADROOM_CHECK(read_common(config, m, defaults));
    m.qkv_bias = m.output_bias = true;
    m.attention_sinks = true;
    HEADROOM_TRY(m.experts.count, read_size(config, "num_local_experts", int64_t{1} << 12));
    HEADROOM_TRY(m.experts.per_token, read_size(config, "num_experts_per_tok", m.experts.count));
    m.experts.intermediate = m.intermediate;
    m.experts.router_bias = m.experts.expert_bias = true;
    m.intermediate = 0;
    for (Layer& layer : m.layers) layer.mixture = true;
    HEADROOM_TRY(const int64_t window, read_size(config, "sliding_window", int64_t{1} << 40, 128));
    return read_windows(config, m, window, [](int64_t i, int64_t) { return i % 2 == 0; }, 0);
}

}  // namespace headroom
