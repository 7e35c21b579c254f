// gemma3_text, and the language model of gemma3: five windowed layers to one full, four norms a layer.
// Published files leave out heads, head size and vocabulary where they are the defaults (4B).
// Source: transformers, models/gemma3.
#include "model/families/common.h"
#include "model/families/family.h"

namespace headroom {

Result<void> read_gemma3(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m,
                               {.vocabulary = 262208,
                                .heads = 8,
                                .kv_heads = 4,
                                .head_dim = 256,
                                .max_context = 131072,
                                .tied_embeddings = true,
                                .rope_theta = 1e6,
                                .activation = "gelu_pytorch_tanh"}));
    const double local = m.rope.local_theta > 0 ? m.rope.local_theta : 10000.0;
    HEADROOM_TRY(m.rope.local_theta, read_real(config, "rope_local_base_freq", local));
    HEADROOM_TRY(m.query_scalar, read_real(config, "query_pre_attn_scalar", 256));
    HEADROOM_CHECK(read_attention_bias(config, m, false));
    m.qk_norm = true;
    m.norms_per_layer = 4;
    HEADROOM_TRY(const int64_t window, read_window(config, 4096));
    HEADROOM_TRY(const int64_t every, read_size(config, "sliding_window_pattern", kMostLayers, 6));
    return read_windows(config, m, window, [every](int64_t layer) { return (layer + 1) % every != 0; });
}

}  // namespace headroom
