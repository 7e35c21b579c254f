// llama 2 and 3. Source: transformers, models/llama.
#include "model/families/common.h"
#include "model/families/family.h"

namespace headroom {

Result<void> read_llama(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {.max_context = 2048}));
    HEADROOM_CHECK(read_attention_bias(config, m, false));
    HEADROOM_TRY(m.mlp_bias, config.get_or("mlp_bias", false));
    return {};
}

}  // namespace headroom
