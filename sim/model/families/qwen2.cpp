// qwen2 (Qwen2 and Qwen2.5): biases in the q, k and v projections. Source: transformers, models/qwen2.
#include "model/families/common.h"
#include "model/families/family.h"
#include "model/families/qwen_windows.h"

namespace headroom {

Result<void> read_qwen2(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {.kv_heads = 32, .max_context = 32768}));
    m.qkv_bias = true;
    return read_qwen_windows(config, m);
}

}  // namespace headroom
