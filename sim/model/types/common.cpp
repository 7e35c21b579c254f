#include <cmath>
#include <optional>

#include "base/text.h"
#include "model/types/type.h"

namespace headroom {
namespace {

constexpr int64_t kMostHidden = int64_t{1} << 20, kMostLayers = int64_t{1} << 12, kMostVocabulary = int64_t{1} << 24;

Result<double> read_positive(ConfigTable& config, std::string_view key, double fallback) {
    const std::optional<ConfigValue> value = config.find(key);
    if (!value) return fallback;
    HEADROOM_TRY(const double read, value->as<double>());
    if (!(read > 0)) return value->wrong("a number above 0");
    return read;
}

Result<void> read_rope(ConfigTable& config, Model& m, double default_theta) {
    HEADROOM_TRY(m.rope.theta, read_positive(config, "rope_theta", default_theta));
    HEADROOM_TRY(m.rope.local_theta, read_positive(config, "rope_local_base_freq", m.rope.theta));
    if (m.rope.local_theta == m.rope.theta) m.rope.local_theta = 0;
    // Published as rope_scaling; newer files fold theta in and call it rope_parameters.
    for (const char* key : {"rope_scaling", "rope_parameters"}) {
        HEADROOM_TRY(std::optional<ConfigTable> scaling, config.get<ConfigTable>(key));
        if (!scaling) continue;
        Rope& r = m.rope;
        HEADROOM_TRY(r.theta, read_positive(*scaling, "rope_theta", r.theta));
        HEADROOM_TRY(const std::string old_name, scaling->get_or<std::string>("type", ""));
        HEADROOM_TRY(r.scaling, scaling->get_or<std::string>("rope_type", old_name));
        if (r.scaling == "default") r.scaling.clear();
        HEADROOM_TRY(r.factor, read_positive(*scaling, "factor", 1.0));
        HEADROOM_TRY(r.low_freq_factor, read_positive(*scaling, "low_freq_factor", 1.0));
        HEADROOM_TRY(r.high_freq_factor, read_positive(*scaling, "high_freq_factor", 4.0));
        HEADROOM_TRY(r.beta_fast, read_positive(*scaling, "beta_fast", 32.0));
        HEADROOM_TRY(r.beta_slow, read_positive(*scaling, "beta_slow", 1.0));
        HEADROOM_TRY(r.original_context, scaling->get_or<int64_t>("original_max_position_embeddings", 0));
    }
    return {};
}

}  // namespace

Result<int64_t> read_size(ConfigTable& config, std::string_view key, int64_t most, int64_t fallback) {
    const std::optional<ConfigValue> value = config.find(key);
    if (!value) {
        if (fallback >= 0) return fallback;
        HEADROOM_TRY(const ConfigValue missing, config.need(key));
        return missing.as<int64_t>();
    }
    HEADROOM_TRY(const int64_t read, value->as<int64_t>());
    if (read < 1 || read > most) return value->wrong("a whole number from 1 to " + format_integer(most));
    return read;
}

Result<void> read_common(ConfigTable& config, Model& m, const CommonDefaults& defaults) {
    HEADROOM_TRY(m.hidden, read_size(config, "hidden_size", kMostHidden));
    HEADROOM_TRY(m.vocabulary, read_size(config, "vocab_size", kMostVocabulary));
    HEADROOM_TRY(const int64_t layers, read_size(config, "num_hidden_layers", kMostLayers));
    HEADROOM_TRY(m.heads, read_size(config, "num_attention_heads", kMostHidden));
    HEADROOM_TRY(m.kv_heads, read_size(config, "num_key_value_heads", kMostHidden, m.heads));
    if (m.heads % m.kv_heads != 0) {
        return fail(config.place("num_key_value_heads"), std::to_string(m.kv_heads) + " key heads for " + std::to_string(m.heads) + " query heads",
                    "a divisor of num_attention_heads");
    }
    m.head_dim = defaults.head_dim;
    const std::optional<ConfigValue> head_dim = config.find("head_dim");
    if (head_dim || m.head_dim == 0) {
        if (!head_dim && m.hidden % m.heads != 0) {
            return fail(config.place("num_attention_heads"), std::to_string(m.heads) + " heads do not divide the hidden size, " + std::to_string(m.hidden),
                        "a divisor of hidden_size, or a head_dim");
        }
        HEADROOM_TRY(m.head_dim, read_size(config, "head_dim", kMostHidden, m.hidden / m.heads));
    }
    if (m.q_size() > kMostHidden) {
        return fail(config.place("head_dim"), std::to_string(m.heads) + " heads of " + std::to_string(m.head_dim),
                    "heads x head_dim up to " + format_integer(kMostHidden));
    }
    HEADROOM_TRY(m.intermediate, read_size(config, "intermediate_size", kMostHidden));
    HEADROOM_TRY(m.tied_embeddings, config.get_or("tie_word_embeddings", defaults.tied));
    HEADROOM_TRY(m.norm_epsilon, read_positive(config, "rms_norm_eps", defaults.norm_epsilon));
    HEADROOM_TRY(const std::string activation, config.get_or<std::string>("hidden_act", defaults.activation));
    HEADROOM_TRY(m.activation, config.get_or<std::string>("hidden_activation", activation));
    HEADROOM_TRY(m.max_context, read_size(config, "max_position_embeddings", int64_t{1} << 40, 0));
    HEADROOM_CHECK(read_rope(config, m, defaults.rope_theta));
    m.layers.assign(static_cast<size_t>(layers), Layer{});
    if (checked_mul(2 * m.kv_size(), layers) > (int64_t{1} << 31)) {
        return fail(config.place("num_key_value_heads"), "K and V of " + format_integer(2 * m.kv_size()) + " values in each of " + std::to_string(layers) + " layers",
                    "at most 2^31 values per token");
    }
    return {};
}

Result<int64_t> read_window(ConfigTable& config) {
    return read_size(config, "sliding_window", int64_t{1} << 40, 0);
}

Result<void> read_windows(ConfigTable& config, Model& m, int64_t window, bool (*is_windowed)(int64_t, int64_t),
                          int64_t argument) {
    const std::optional<ConfigValue> types = config.find("layer_types");
    if (!types) {
        for (int64_t i = 0; i < m.layer_count(); ++i) {
            if (window > 0 && is_windowed(i, argument)) m.layers[static_cast<size_t>(i)].window = window;
        }
        return {};
    }
    HEADROOM_TRY(const std::vector<ConfigValue> items, types->items());
    if (static_cast<int64_t>(items.size()) != m.layer_count()) {
        return types->wrong("a list of " + std::to_string(m.layer_count()) + ", one for each layer");
    }
    for (size_t i = 0; i < items.size(); ++i) {
        HEADROOM_TRY(const std::string type, items[i].as<std::string>());
        if (type == "full_attention") continue;
        if (type != "sliding_attention") return items[i].wrong("'full_attention' or 'sliding_attention'");
        if (window == 0) return items[i].wrong("'full_attention' where there is no sliding_window");
        m.layers[i].window = window;
    }
    return {};
}

}  // namespace headroom
