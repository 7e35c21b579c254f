// gemma3_text, and the text part of gemma3. Source: transformers, models/gemma3.
#include "model/types/type.h"

namespace headroom {

Result<void> read_gemma3(ConfigTable& config, Model& m) {
    CommonDefaults defaults;
    defaults.head_dim = 256;
    defaults.rope_theta = 1e6;
    defaults.tied = true;
    defaults.activation = "gelu_pytorch_tanh";
    HEADROOM_CHECK(read_common(config, m, defaults));
    HEADROOM_TRY(const bool bias, config.get_or("attention_bias", false));
    m.qkv_bias = m.output_bias = bias;
    m.qk_norm = true;
    m.norms_per_layer = 4;
    if (!config.find("rope_local_base_freq")) m.rope.local_theta = 10000.0;
    HEADROOM_TRY(const int64_t window, read_size(config, "sliding_window", int64_t{1} << 40, 4096));
    HEADROOM_TRY(const int64_t pattern, read_size(config, "sliding_window_pattern", int64_t{1} << 12, 6));
    return read_windows(config, m, window, [](int64_t i, int64_t every) { return (i + 1) % every != 0; }, pattern);
}

}  // namespace headroom
