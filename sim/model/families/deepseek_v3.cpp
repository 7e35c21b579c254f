// deepseek_v3 (V3 and R1): multi-head latent attention, experts after the first dense layers. The module that
// predicts further tokens (num_nextn_predict_layers) is not part of the model here.
// Source: transformers, models/deepseek_v3.
#include <algorithm>

#include "model/families/common.h"
#include "model/families/family.h"

namespace headroom {
namespace {

Result<void> read_experts(ConfigTable& config, Model& m) {
    Experts& e = m.experts;
    HEADROOM_TRY(e.count, read_size(config, "n_routed_experts", kMostExperts));
    HEADROOM_TRY(e.per_token, read_size(config, "num_experts_per_tok", e.count));
    HEADROOM_TRY(e.intermediate, read_size(config, "moe_intermediate_size", kMostWidth));
    HEADROOM_TRY(e.shared, read_size(config, "n_shared_experts", kMostExperts, 1, 0));
    HEADROOM_TRY(e.normalized, config.get_or("norm_topk_prob", true));
    // e_score_correction_bias: published with the weights and counted there, though no gradient reaches it.
    e.router_bias = true;
    HEADROOM_TRY(const int64_t dense, read_size(config, "first_k_dense_replace", kMostLayers, 3, 0));
    for (int64_t i = dense; i < m.layer_count(); ++i) m.layers[static_cast<size_t>(i)].mixture = true;
    return {};
}

}  // namespace

Result<void> read_deepseek_v3(ConfigTable& config, Model& m) {
    // head_dim is not a key of these files: a head has two parts, read below.
    HEADROOM_CHECK(read_common(config, m, {.head_dim = 64, .max_context = 4096}));
    HEADROOM_CHECK(read_attention_bias(config, m, false));
    LatentAttention& a = m.latent;
    HEADROOM_TRY(a.q_rank, read_size(config, "q_lora_rank", kMostWidth, 0));
    HEADROOM_TRY(a.kv_rank, read_size(config, "kv_lora_rank", kMostWidth));
    HEADROOM_TRY(a.nope_dim, read_size(config, "qk_nope_head_dim", kMostWidth));
    HEADROOM_TRY(a.rope_dim, read_size(config, "qk_rope_head_dim", kMostWidth));
    HEADROOM_TRY(a.v_dim, read_size(config, "v_head_dim", kMostWidth));
    m.head_dim = a.nope_dim + a.rope_dim;
    HEADROOM_CHECK(read_experts(config, m));
    m.not_trainable =
        "deepseek_v3 (multi-head latent attention) is not planned in training; its parameters, FLOPs and KV "
        "bytes are exact";
    return {};
}

}  // namespace headroom
