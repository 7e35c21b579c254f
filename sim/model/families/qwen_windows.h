// The windows of qwen2 and qwen3.
#pragma once

#include "model/families/common.h"

namespace headroom {

// Layers from max_window_layers on are windowed where use_sliding_window says so; no published model does.
inline Result<void> read_qwen_windows(ConfigTable& config, Model& m) {
    HEADROOM_TRY(const bool use, config.get_or("use_sliding_window", false));
    HEADROOM_TRY(const int64_t window, read_window(config, 4096));
    HEADROOM_TRY(const int64_t first, read_size(config, "max_window_layers", kMostLayers, 28, 0));
    return read_windows(config, m, use ? window : 0, [first](int64_t layer) { return layer >= first; });
}

}  // namespace headroom
