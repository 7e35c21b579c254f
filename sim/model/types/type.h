// Model types: one file each, registered in types.cpp. A type reads its own keys into a Model whose common part
// (read_common) is there already.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "model/model.h"

namespace headroom {

struct ModelType {
    std::string_view name;  // model_type of config.json
    Result<void> (*read)(ConfigTable& config, Model& model);
};
std::span<const ModelType> model_types();

Result<void> read_qwen2(ConfigTable& config, Model& model);
Result<void> read_qwen3(ConfigTable& config, Model& model);
Result<void> read_qwen3_moe(ConfigTable& config, Model& model);
Result<void> read_llama(ConfigTable& config, Model& model);
Result<void> read_mistral(ConfigTable& config, Model& model);
Result<void> read_gemma3(ConfigTable& config, Model& model);
Result<void> read_gpt_oss(ConfigTable& config, Model& model);
Result<void> read_deepseek_v3(ConfigTable& config, Model& model);

// A size: 1 .. most. With `fallback` >= 0 the key may be absent.
Result<int64_t> read_size(ConfigTable& config, std::string_view key, int64_t most, int64_t fallback = -1);
// hidden_size, layers, heads, vocabulary, rope, norms: what all types share. `defaults`: what transformers assumes
// for this type where the key is absent.
struct CommonDefaults {
    int64_t head_dim = 0;  // 0: hidden / heads
    double rope_theta = 10000.0;
    bool tied = false;
    double norm_epsilon = 1e-6;
    std::string activation = "silu";
};
Result<void> read_common(ConfigTable& config, Model& model, const CommonDefaults& defaults);
// Windows from `layer_types` where the config has it ("sliding_attention", "full_attention"), else by
// `is_windowed(index)`. `window`: tokens; 0: the model has none.
Result<void> read_windows(ConfigTable& config, Model& model, int64_t window, bool (*is_windowed)(int64_t, int64_t),
                          int64_t argument);
// sliding_window; 0 where absent or null.
Result<int64_t> read_window(ConfigTable& config);

}  // namespace headroom
