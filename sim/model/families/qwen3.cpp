// qwen3: norms of queries and keys instead of biases. Source: transformers, models/qwen3.
#include "model/families/common.h"
#include "model/families/family.h"
#include "model/families/qwen_windows.h"

namespace headroom {

Result<void> read_qwen3(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {.kv_heads = 32, .head_dim = 128, .max_context = 32768}));
    HEADROOM_CHECK(read_attention_bias(config, m, false));
    m.qk_norm = true;
    return read_qwen_windows(config, m);
}

}  // namespace headroom
