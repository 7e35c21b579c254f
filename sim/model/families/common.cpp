#include "model/families/common.h"

#include <algorithm>
#include <array>
#include <string>

namespace headroom {
namespace {

// null and an absent key differ where the default is not "none".
bool is_null(const ConfigTable& config, std::string_view key, const std::optional<ConfigValue>& found) {
    if (found) return false;
    const std::vector<std::string> keys = config.keys();
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Result<void> read_heads(ConfigTable& config, Model& m, const Defaults& defaults) {
    const auto required = [](int64_t size) { return size > 0 ? std::optional(size) : std::nullopt; };
    HEADROOM_TRY(m.heads, read_size(config, "num_attention_heads", kMostWidth, required(defaults.heads)));
    const bool as_heads =
        defaults.kv_heads == 0 || is_null(config, "num_key_value_heads", config.find("num_key_value_heads"));
    HEADROOM_TRY(m.kv_heads, read_size(config, "num_key_value_heads", kMostWidth,
                                       as_heads ? m.heads : defaults.kv_heads));
    if (m.heads % m.kv_heads != 0) {
        return fail(config.place("num_key_value_heads"),
                    std::to_string(m.kv_heads) + " KV heads for " + std::to_string(m.heads) + " query heads",
                    "a divisor of num_attention_heads");
    }
    std::optional<int64_t> head_dim = required(defaults.head_dim);
    if (!head_dim && !config.find("head_dim")) {
        if (m.hidden % m.heads != 0) {
            return fail(config.place("num_attention_heads"),
                        std::to_string(m.heads) + " heads for a hidden size of " + std::to_string(m.hidden),
                        "a divisor of hidden_size, or a head_dim");
        }
        head_dim = m.hidden / m.heads;
    }
    HEADROOM_TRY(m.head_dim, read_size(config, "head_dim", kMostWidth, head_dim));
    return {};
}

// Parts that change what is computed and that no plan or kernel has. Parameters and KV bytes stay exact.
Result<void> name_unplanned(ConfigTable& config, Model& m) {
    struct Part {
        std::string_view key, name;
    };
    constexpr std::array parts{
        Part{"attn_logit_softcapping", "soft capping of attention scores"},
        Part{"final_logit_softcapping", "soft capping of logits"},
        Part{"use_bidirectional_attention", "bidirectional attention"},
        Part{"dual_chunk_attention_config", "dual chunk attention"},
    };
    for (const Part& part : parts) {
        const std::optional<ConfigValue> value = config.find(part.key);
        if (!value || value->found() == "false") continue;
        m.not_trainable = std::string(part.name) + " (" + std::string(part.key) + ") is not planned";
    }
    constexpr std::array<std::string_view, 3> activations{"silu", "gelu_pytorch_tanh", "gelu"};
    if (std::find(activations.begin(), activations.end(), m.activation) == activations.end())
        m.not_trainable = "the activation '" + m.activation + "' is not planned";
    // longrope has a factor for each frequency, which Rope does not hold.
    constexpr std::array<std::string_view, 5> scalings{"", "linear", "dynamic", "yarn", "llama3"};
    if (std::find(scalings.begin(), scalings.end(), m.rope.scaling) == scalings.end())
        m.not_trainable = "the rotary embedding '" + m.rope.scaling + "' is not planned";
    return {};
}

}  // namespace

Result<int64_t> read_window(ConfigTable& config, int64_t fallback) {
    if (is_null(config, "sliding_window", config.find("sliding_window"))) return 0;
    return read_size(config, "sliding_window", kMostTokens, fallback, fallback == 0 ? 0 : 1);
}

Result<void> read_attention_bias(ConfigTable& config, Model& m, bool fallback) {
    HEADROOM_TRY(m.qkv_bias, config.get_or("attention_bias", fallback));
    m.output_bias = m.qkv_bias;
    return {};
}

Result<bool> read_layer_types(ConfigTable& config, Model& m, int64_t window) {
    const std::optional<ConfigValue> types = config.find("layer_types");
    if (!types) return false;
    HEADROOM_TRY(const std::vector<ConfigValue> items, types->items());
    if (items.size() != m.layers.size())
        return types->wrong("a list of " + std::to_string(m.layers.size()) + ", one for each layer");
    for (size_t i = 0; i < items.size(); ++i) {
        HEADROOM_TRY(const std::string type, items[i].as<std::string>());
        if (type == "full_attention") continue;
        if (type != "sliding_attention") return items[i].wrong("'full_attention' or 'sliding_attention'");
        if (window == 0)
            return items[i].wrong("'full_attention', as the model has no sliding window that is in use");
        m.layers[i].window = window;
    }
    return true;
}

Result<void> read_common(ConfigTable& config, Model& m, const Defaults& defaults) {
    HEADROOM_TRY(m.hidden, read_size(config, "hidden_size", kMostWidth));
    HEADROOM_TRY(const int64_t layers, read_size(config, "num_hidden_layers", kMostLayers));
    HEADROOM_TRY(m.intermediate, read_size(config, "intermediate_size", kMostWidth));
    HEADROOM_TRY(m.vocabulary,
                 read_size(config, "vocab_size", kMostVocabulary,
                           defaults.vocabulary > 0 ? std::optional(defaults.vocabulary) : std::nullopt));
    HEADROOM_CHECK(read_heads(config, m, defaults));
    HEADROOM_TRY(m.max_context,
                 read_size(config, "max_position_embeddings", kMostTokens, defaults.max_context));
    HEADROOM_TRY(m.tied_embeddings, config.get_or("tie_word_embeddings", defaults.tied_embeddings));
    HEADROOM_TRY(m.norm_epsilon, read_real(config, "rms_norm_eps", defaults.norm_epsilon));
    HEADROOM_TRY(m.activation, config.get_or("hidden_act", std::string(defaults.activation)));
    // gemma3's name for it, which wins where a file has both.
    HEADROOM_TRY(m.activation, config.get_or("hidden_activation", m.activation));
    HEADROOM_CHECK(read_rope(config, m, defaults.rope_theta));
    m.layers.assign(static_cast<size_t>(layers), Layer{});
    return name_unplanned(config, m);
}

}  // namespace headroom
