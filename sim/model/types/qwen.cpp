// qwen2, qwen3, qwen3_moe. Source: transformers, models/qwen2, qwen3 and qwen3_moe, configuration and modules.
#include <algorithm>

#include "model/types/type.h"

namespace headroom {
namespace {

// Layers from max_window_layers on are windowed, where use_sliding_window says so.
Result<void> read_qwen_windows(ConfigTable& config, Model& m) {
    HEADROOM_TRY(const bool use, config.get_or("use_sliding_window", false));
    HEADROOM_TRY(const int64_t window, read_window(config));
    HEADROOM_TRY(const int64_t first, config.get_or<int64_t>("max_window_layers", 28));
    return read_windows(config, m, use ? window : 0, [](int64_t i, int64_t from) { return i >= from; }, first);
}

}  // namespace

Result<void> read_qwen2(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {}));
    m.qkv_bias = true;
    return read_qwen_windows(config, m);
}

Result<void> read_qwen3(ConfigTable& config, Model& m) {
    CommonDefaults defaults;
    defaults.head_dim = 128;
    HEADROOM_CHECK(read_common(config, m, defaults));
    HEADROOM_TRY(const bool bias, config.get_or("attention_bias", false));
    m.qkv_bias = m.output_bias = bias;
    m.qk_norm = true;
    return read_qwen_windows(config, m);
}

Result<void> read_qwen3_moe(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {}));
    HEADROOM_TRY(const bool bias, config.get_or("attention_bias", false));
    m.qkv_bias = m.output_bias = bias;
    m.qk_norm = true;
    HEADROOM_TRY(m.experts.count, read_size(config, "num_experts", int64_t{1} << 12));
    HEADROOM_TRY(m.experts.per_token, read_size(config, "num_experts_per_tok", m.experts.count));
    HEADROOM_TRY(m.experts.intermediate, read_size(config, "moe_intermediate_size", int64_t{1} << 20));
    HEADROOM_TRY(const int64_t step, read_size(config, "decoder_sparse_step", int64_t{1} << 12, 1));
    HEADROOM_TRY(const std::vector<int64_t> dense, config.get_or<std::vector<int64_t>>("mlp_only_layers", {}));
    bool any_dense = false;
    for (int64_t i = 0; i < m.layer_count(); ++i) {
        const bool listed = std::find(dense.begin(), dense.end(), i) != dense.end();
        m.layers[static_cast<size_t>(i)].mixture = !listed && (i + 1) % step == 0;
        any_dense |= !m.layers[static_cast<size_t>(i)].mixture;
    }
    if (!any_dense) m.intermediate = 0;
    return read_qwen_windows(config, m);
}

}  // namespace headroom
