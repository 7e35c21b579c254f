// llama (2 and 3, with rope scaling and tied embeddings) and mistral. Source: transformers, models/llama, mistral.
#include "model/types/type.h"

namespace headroom {

Result<void> read_llama(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {}));
    HEADROOM_TRY(const bool bias, config.get_or("attention_bias", false));
    m.qkv_bias = m.output_bias = bias;
    HEADROOM_TRY(m.mlp_bias, config.get_or("mlp_bias", false));
    return {};
}

Result<void> read_mistral(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {}));
    HEADROOM_TRY(const int64_t window, read_window(config));
    return read_windows(config, m, window, [](int64_t, int64_t) { return true; }, 0);
}

}  // namespace headroom
