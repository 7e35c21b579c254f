// qwen3_moe: qwen3 with a mixture of experts in most layers. Source: transformers, models/qwen3_moe.
#include "model/families/common.h"
#include "model/families/family.h"

namespace headroom {
namespace {

// Dense are the layers of mlp_only_layers and those that decoder_sparse_step leaves out.
Result<void> read_mixture_layers(ConfigTable& config, Model& m) {
    HEADROOM_TRY(const int64_t step, read_size(config, "decoder_sparse_step", kMostLayers, 1));
    for (int64_t i = 0; i < m.layer_count(); ++i)
        m.layers[static_cast<size_t>(i)].mixture = (i + 1) % step == 0;
    const std::optional<ConfigValue> dense = config.find("mlp_only_layers");
    if (!dense) return {};
    HEADROOM_TRY(const std::vector<ConfigValue> indices, dense->items());
    for (const ConfigValue& index : indices) {
        const Result<int64_t> layer = index.as<int64_t>();
        if (!layer || *layer < 0 || *layer >= m.layer_count())
            return index.wrong("a layer from 0 to " + std::to_string(m.layer_count() - 1));
        m.layers[static_cast<size_t>(*layer)].mixture = false;
    }
    return {};
}

}  // namespace

Result<void> read_qwen3_moe(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {.kv_heads = 4, .max_context = 32768}));
    HEADROOM_CHECK(read_attention_bias(config, m, false));
    m.qk_norm = true;
    Experts& e = m.experts;
    // transformers 5 writes it under the other name.
    const char* count = config.find("num_local_experts") ? "num_local_experts" : "num_experts";
    HEADROOM_TRY(e.count, read_size(config, count, kMostExperts));
    HEADROOM_TRY(e.per_token, read_size(config, "num_experts_per_tok", e.count));
    HEADROOM_TRY(e.intermediate, read_size(config, "moe_intermediate_size", kMostWidth));
    HEADROOM_TRY(e.normalized, config.get_or("norm_topk_prob", false));
    HEADROOM_CHECK(read_mixture_layers(config, m));
    HEADROOM_TRY(const bool use, config.get_or("use_sliding_window", false));
    HEADROOM_TRY(const int64_t window, read_window(config, 4096));
    return read_windows(config, m, use ? window : 0, [](int64_t) { return true; });
}

}  // namespace headroom
