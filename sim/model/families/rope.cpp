// Rotary embedding. Source of keys and defaults: transformers, modeling_rope_utils.
#include <fmt/format.h>

#include <cmath>

#include "model/families/common.h"

namespace headroom {
namespace {

// Scalings that mean nothing without a factor. yarn may leave it out: the context over the original one.
Result<void> read_factor(ConfigTable& table, Model& m) {
    Rope& r = m.rope;
    if (r.scaling == "linear" || r.scaling == "dynamic" || r.scaling == "llama3") {
        HEADROOM_CHECK(table.need("factor"));
    }
    const double stretched =
        r.scaling == "yarn" ? static_cast<double>(m.max_context) / static_cast<double>(r.original_context)
                            : 1;
    HEADROOM_TRY(r.factor, read_real(table, "factor", stretched));
    return {};
}

Result<void> read_scaling(ConfigTable& table, Model& m) {
    Rope& r = m.rope;
    HEADROOM_TRY(r.theta, read_real(table, "rope_theta", r.theta));
    HEADROOM_TRY(const std::string old_name, table.get_or<std::string>("type", ""));
    HEADROOM_TRY(r.scaling, table.get_or("rope_type", old_name));
    if (r.scaling == "default") r.scaling.clear();
    HEADROOM_TRY(r.low_freq_factor, read_real(table, "low_freq_factor", r.low_freq_factor));
    HEADROOM_TRY(r.high_freq_factor, read_real(table, "high_freq_factor", r.high_freq_factor));
    HEADROOM_TRY(r.beta_fast, read_real(table, "beta_fast", r.beta_fast));
    HEADROOM_TRY(r.beta_slow, read_real(table, "beta_slow", r.beta_slow));
    HEADROOM_TRY(r.mscale, read_real_or_zero(table, "mscale", 0));
    HEADROOM_TRY(r.mscale_all_dim, read_real_or_zero(table, "mscale_all_dim", 0));
    HEADROOM_TRY(r.attention_factor, read_real(table, "attention_factor", 0));
    HEADROOM_TRY(r.truncate, table.get_or("truncate", true));
    const bool stretched = !r.scaling.empty() && r.scaling != "linear";
    HEADROOM_TRY(r.original_context, read_size(table, "original_max_position_embeddings", kMostTokens,
                                               stretched ? m.max_context : 0));
    if (r.scaling == "llama3" && r.low_freq_factor >= r.high_freq_factor) {
        return fail(table.place("low_freq_factor"), fmt::format("{}", r.low_freq_factor),
                    fmt::format("less than high_freq_factor, {}", r.high_freq_factor));
    }
    if (r.scaling == "yarn" && r.beta_slow > r.beta_fast) {
        return fail(table.place("beta_slow"), fmt::format("{}", r.beta_slow),
                    fmt::format("at most beta_fast, {}", r.beta_fast));
    }
    return read_factor(table, m);
}

}  // namespace

double attention_factor(const Rope& r) {
    if (r.scaling != "yarn") return 1;
    if (r.attention_factor > 0) return r.attention_factor;
    const auto scale = [&](double mscale) {
        return r.factor <= 1 ? 1 : 0.1 * mscale * std::log(r.factor) + 1;
    };
    if (r.mscale > 0 && r.mscale_all_dim > 0) return scale(r.mscale) / scale(r.mscale_all_dim);
    return scale(1);
}

Result<void> read_rope(ConfigTable& config, Model& m, double default_theta) {
    HEADROOM_TRY(m.rope.theta, read_real(config, "rope_theta", default_theta));
    HEADROOM_TRY(std::optional<ConfigTable> parameters, config.get<ConfigTable>("rope_parameters"));
    if (parameters) {
        // A model with two frequencies has one table for each type of layer.
        HEADROOM_TRY(std::optional<ConfigTable> full, parameters->get<ConfigTable>("full_attention"));
        HEADROOM_TRY(std::optional<ConfigTable> sliding, parameters->get<ConfigTable>("sliding_attention"));
        if (sliding) {
            HEADROOM_TRY(m.rope.local_theta, read_real(*sliding, "rope_theta", 0.0));
        }
        HEADROOM_CHECK(read_scaling(full ? *full : *parameters, m));
    }
    HEADROOM_TRY(std::optional<ConfigTable> scaling, config.get<ConfigTable>("rope_scaling"));
    if (scaling) HEADROOM_CHECK(read_scaling(*scaling, m));
    return {};
}

}  // namespace headroom
