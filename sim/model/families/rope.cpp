// Rotary embedding. Source of keys and defaults: transformers, modeling_rope_utils.
#include "model/families/common.h"

namespace headroom {
namespace {

Result<void> read_scaling(ConfigTable& table, Model& m) {
    Rope& r = m.rope;
    HEADROOM_TRY(r.theta, read_real(table, "rope_theta", r.theta));
    HEADROOM_TRY(const std::string old_name, table.get_or<std::string>("type", ""));
    HEADROOM_TRY(r.scaling, table.get_or("rope_type", old_name));
    if (r.scaling == "default") r.scaling.clear();
    HEADROOM_TRY(r.factor, read_real(table, "factor", r.factor));
    HEADROOM_TRY(r.low_freq_factor, read_real(table, "low_freq_factor", r.low_freq_factor));
    HEADROOM_TRY(r.high_freq_factor, read_real(table, "high_freq_factor", r.high_freq_factor));
    HEADROOM_TRY(r.beta_fast, read_real(table, "beta_fast", r.beta_fast));
    HEADROOM_TRY(r.beta_slow, read_real(table, "beta_slow", r.beta_slow));
    const bool stretched = !r.scaling.empty() && r.scaling != "linear";
    HEADROOM_TRY(r.original_context, read_size(table, "original_max_position_embeddings", kMostTokens,
                                               stretched ? m.max_context : 0));
    return {};
}

}  // namespace

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
