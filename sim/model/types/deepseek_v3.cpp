// deepseek_v3 (and R1): multi-head latent attention, mixture of experts after the first dense layers.
// The multi-token-prediction module is not part of the model here. Source: transformers, models/deepseek_v3.
#include "model/types/type.h"

namespace headroom {

Result<void> read_deepseek_v3(ConfigTable& config, Model& m) {
    CommonDefaults defaults;
    defaults.head_dim = 64;
    HEADROOM_CHECK(read_common(config, m, defaults));
    constexpr int64_t most = int64_t{1} << 20;
    LatentAttention& a = m.latent;
    HEADROOM_TRY(a.q_rank, read_size(config, "q_lora_rank", most, 0));
    HEADROOM_TRY(a.kv_rank, read_size(config, "kv_lora_rank", most));
    HEADROOM_TRY(a.nope_dim, read_size(config, "qk_nope_head_dim", most));
    HEADROOM_TRY(a.rope_dim, read_size(config, "qk_rope_head_dim", most));
    HEADROOM_TRY(a.v_dim, read_size(config, "v_head_dim", most));
    m.head_dim = a.nope_dim + a.rope_dim;
    Experts& e = m.experts;
    HEADROOM_TRY(e.count, read_size(config, "n_routed_experts", int64_t{1} << 12));
    HEADROOM_TRY(e.per_token, read_size(config, "num_experts_per_tok", e.count));
    HEADROOM_TRY(e.intermediate, read_size(config, "moe_intermediate_size", most));
    HEADROOM_TRY(e.shared, read_size(config, "n_shared_experts", int64_t{1} << 12, 0));
    e.router_bias = true;  // e_score_correction_bias
    HEADROOM_TRY(const int64_t dense, config.get_or<int64_t>("first_k_dense_replace", 3));
    HEADROOM_TRY(const int64_t every, read_size(config, "moe_layer_freq", int64_t{1} << 12, 1));
    for (int64_t i = 0; i < m.layer_count(); ++i) m.layers[static_cast<size_t>(i)].mixture = i >= dense && i % every == 0;
    m.not_trainable = "the attention of model type '" + m.type + "' (multi-head latent attention) is not planned in training; parameters and KV bytes are exact";
    return {};
}

}  // namespace headroom
