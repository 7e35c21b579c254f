#include "weights/config_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

// The word that transformers has for it.
std::string torch_name(Dtype dtype) {
    switch (dtype) {
        case Dtype::fp64:
            return "float64";
        case Dtype::bf16:
            return "bfloat16";
        case Dtype::fp16:
            return "float16";
        default:
            return "float32";
    }
}

Json rope_scaling(const Rope& r) {
    Json scaling{{"rope_type", r.scaling}, {"factor", r.factor}};
    if (r.scaling == "llama3") {
        scaling["low_freq_factor"] = r.low_freq_factor;
        scaling["high_freq_factor"] = r.high_freq_factor;
    }
    if (r.scaling == "yarn") {
        scaling["beta_fast"] = r.beta_fast;
        scaling["beta_slow"] = r.beta_slow;
        if (r.mscale > 0) scaling["mscale"] = r.mscale;
        if (r.mscale_all_dim > 0) scaling["mscale_all_dim"] = r.mscale_all_dim;
        if (r.attention_factor > 0) scaling["attention_factor"] = r.attention_factor;
        if (!r.truncate) scaling["truncate"] = false;
    }
    if (r.original_context > 0) scaling["original_max_position_embeddings"] = r.original_context;
    return scaling;
}

// Windows under the keys of the family.
void windows(const Model& m, Json& config) {
    int64_t window = 0;
    for (const Layer& layer : m.layers) window = std::max(window, layer.window);
    if (m.type == "mistral") config["sliding_window"] = window > 0 ? Json(window) : Json(nullptr);
    const bool gemma = m.type == "gemma3_text";
    if (!gemma && !m.type.starts_with("qwen")) return;
    if (!gemma) config["use_sliding_window"] = window > 0;
    config["sliding_window"] = window > 0 ? Json(window) : Json(nullptr);
    if (window == 0 && !gemma) return;
    config["layer_types"] = Json::array();
    for (const Layer& layer : m.layers)
        config["layer_types"].push_back(layer.window > 0 ? "sliding_attention" : "full_attention");
}

}  // namespace

Result<std::string> config_json(const Model& m, Dtype dtype) {
    static const std::map<std::string, std::string, std::less<>> architectures{
        {"gemma3_text", "Gemma3ForCausalLM"},
        {"llama", "LlamaForCausalLM"},
        {"mistral", "MistralForCausalLM"},
        {"qwen2", "Qwen2ForCausalLM"},
        {"qwen3", "Qwen3ForCausalLM"}};
    const auto architecture = architectures.find(m.type);
    if (architecture == architectures.end())
        return fail(m.name, "model type '" + m.type + "'", "gemma3_text, llama, mistral, qwen2 or qwen3");
    const bool gemma = m.type == "gemma3_text";
    Json config{{"architectures", {architecture->second}},
                {"model_type", m.type},
                {"vocab_size", m.vocabulary},
                {"hidden_size", m.hidden},
                {"intermediate_size", m.intermediate},
                {"num_hidden_layers", m.layer_count()},
                {"num_attention_heads", m.heads},
                {"num_key_value_heads", m.kv_heads},
                {"head_dim", m.head_dim},
                {gemma ? "hidden_activation" : "hidden_act", m.activation},
                {"max_position_embeddings", m.max_context},
                {"rms_norm_eps", m.norm_epsilon},
                {"tie_word_embeddings", m.tied_embeddings},
                {"rope_theta", m.rope.theta},
                {"torch_dtype", torch_name(dtype)}};
    if (!m.rope.scaling.empty()) config["rope_scaling"] = rope_scaling(m.rope);
    if (gemma) {
        config["rope_local_base_freq"] = m.rope.local_theta;
        const auto scalar =
            static_cast<int64_t>(m.query_scalar);  // transformers takes whole ones as such alone
        config["query_pre_attn_scalar"] =
            static_cast<double>(scalar) == m.query_scalar ? Json(scalar) : Json(m.query_scalar);
    }
    if (gemma || m.type == "llama" || m.type == "qwen3") config["attention_bias"] = m.output_bias;
    if (m.type == "llama") config["mlp_bias"] = m.mlp_bias;
    windows(m, config);
    std::string text = config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    // What a family's keys cannot say (a llama with a window) must not be lost on the way.
    const Result<Model> again = parse_model(text, "config.json", m.name);
    if (!again || *again != m)
        return fail(m.name, "a model that the config of '" + m.type + "' cannot say",
                    "what transformers has in this family");
    return text;
}

}  // namespace headroom
