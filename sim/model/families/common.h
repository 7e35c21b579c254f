// The keys that all model types share, and readers of the kinds of value that they are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/table.h"
#include "model/check.h"
#include "model/model.h"

namespace headroom {

// What transformers assumes for a model type where the key is absent. 0 for a size: the key is required,
// unless the comment says otherwise.
struct Defaults {
    int64_t vocabulary = 0;
    int64_t heads = 0;
    int64_t kv_heads = 0;  // 0: as many as query heads
    int64_t head_dim = 0;  // 0: hidden / heads
    int64_t max_context = 0;
    bool tied_embeddings = false;
    double rope_theta = 10000.0;
    double norm_epsilon = 1e-6;
    std::string_view activation = "silu";
};

// hidden_size, num_hidden_layers, heads, intermediate_size, vocab_size, rotary embedding, norms, activation.
// Layers are created dense and without a window. Names in Model::not_trainable what no plan knows.
Result<void> read_common(ConfigTable& config, Model& model, const Defaults& defaults);
// rope_theta, rope_local_base_freq, and rope_scaling or rope_parameters (its name since transformers 5).
Result<void> read_rope(ConfigTable& config, Model& model, double default_theta);
// attention_bias, which in most types stands for all four projections.
Result<void> read_attention_bias(ConfigTable& config, Model& model, bool fallback);

// A whole number from `least` to `most`. Error where the key is absent and there is no `fallback`.
Result<int64_t> read_size(ConfigTable& config, std::string_view key, int64_t most,
                          std::optional<int64_t> fallback = {}, int64_t least = 1);
// A number above 0, at most 1e30. Absent or null: `fallback`.
Result<double> read_real(ConfigTable& config, std::string_view key, double fallback);
// The same, and 0.
Result<double> read_real_or_zero(ConfigTable& config, std::string_view key, double fallback);
// sliding_window: null means none, an absent key `fallback`. 0: none.
Result<int64_t> read_window(ConfigTable& config, int64_t fallback);

// Gives each layer its window: as layer_types says, else `windowed(index)`. `window` 0: the model has none,
// and a layer that asks for one is an Error.
template <class Windowed>
Result<void> read_windows(ConfigTable& config, Model& model, int64_t window, Windowed windowed);
Result<bool> read_layer_types(ConfigTable& config, Model& model, int64_t window);  // false: no such key

template <class Windowed>
Result<void> read_windows(ConfigTable& config, Model& model, int64_t window, Windowed windowed) {
    HEADROOM_TRY(const bool listed, read_layer_types(config, model, window));
    for (int64_t i = 0; !listed && i < model.layer_count(); ++i) {
        if (windowed(i)) model.layers[static_cast<size_t>(i)].window = window;
    }
    return {};
}

}  // namespace headroom
