// mistral: llama with a window on every layer (v0.1), without one since v0.2. Source: transformers,
// models/mistral.
#include "model/families/common.h"
#include "model/families/family.h"

namespace headroom {

Result<void> read_mistral(ConfigTable& config, Model& m) {
    HEADROOM_CHECK(read_common(config, m, {.kv_heads = 8, .max_context = 131072}));
    HEADROOM_TRY(const int64_t window, read_window(config, 4096));
    return read_windows(config, m, window, [](int64_t) { return true; });
}

}  // namespace headroom
