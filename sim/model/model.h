// What is trained: a decoder-only transformer as its published config.json describes it.
//
// Contract:
//  - Plain immutable data; every size is in elements, every window in tokens.
//  - What a config leaves out has the default that Hugging Face transformers gives it for that model type;
//    sizes that every published file of the type states are required.
//  - read_model() checks every relation used later (head counts divide, sizes positive and bounded), so that
//    nothing below has to check again. What 2^30 tokens keep of anything fits int64_t bytes (check.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/units.h"

namespace headroom {

// One decoder layer. Layers that compare equal cost the same.
struct Layer {
    int64_t window = 0;    // keys a query may see, its own included; 0: all before it
    bool mixture = false;  // mixture of experts instead of one dense MLP
    bool operator==(const Layer&) const = default;
};

// Experts of a mixture layer; all zero where the model has none.
struct Experts {
    int64_t count = 0;         // routed experts
    int64_t per_token = 0;     // routed experts that one token visits
    int64_t intermediate = 0;  // inner size of one routed expert
    int64_t shared = 0;        // shared experts (always visited), each of `intermediate`
    bool router_bias = false;  // a bias per expert in the router (gpt_oss; deepseek_v3's correction bias)
    bool expert_bias = false;  // biases inside the experts (gpt_oss)
    // Weights of the experts that a token visits sum to 1 (norm_topk_prob; gpt_oss always); else they are the
    // router's softmax over all experts.
    bool normalized = false;
    bool operator==(const Experts&) const = default;
};

// Multi-head latent attention (deepseek_v3); all zero elsewhere.
struct LatentAttention {
    int64_t q_rank = 0;    // 0: queries are projected directly
    int64_t kv_rank = 0;   // the compressed KV that is cached, together with rope_dim values
    int64_t nope_dim = 0;  // per head, without rotary embedding
    int64_t rope_dim = 0;  // per head for q, shared by all heads for k
    int64_t v_dim = 0;     // per head
    bool operator==(const LatentAttention&) const = default;
};

// Rotary embedding: base frequency and the published rescaling of long contexts.
// Source of every member: transformers, modeling_rope_utils.
struct Rope {
    double theta = 10000.0;
    double local_theta = 0.0;  // of windowed layers where it differs (gemma3), never rescaled; 0: theta
    std::string scaling;       // "", "linear", "dynamic", "llama3" or "yarn": as rope_type says
    double factor = 1.0;
    double low_freq_factor = 1.0, high_freq_factor = 4.0;  // llama3
    double beta_fast = 32.0, beta_slow = 1.0;              // yarn: rotations that bound the ramp
    double mscale = 0.0, mscale_all_dim = 0.0;             // yarn; 0: not given
    double attention_factor = 0.0;                         // yarn; 0: from factor and mscale
    bool truncate = true;          // yarn: the ramp begins and ends at whole dimensions
    int64_t original_context = 0;  // original_max_position_embeddings
    bool operator==(const Rope&) const = default;
};
// What cosines and sines are multiplied by: 1 unless yarn.
// Source: Peng et al., arXiv 2309.00071, section 3.4; with mscale as transformers has it.
double attention_factor(const Rope& rope);

struct Model {
    std::string name;  // folder name or file stem: "Qwen2.5-7B"
    std::string type;  // config's model_type: "qwen2"
    int64_t hidden = 0;
    int64_t vocabulary = 0;
    bool tied_embeddings = false;
    int64_t heads = 0;     // query heads
    int64_t kv_heads = 0;  // divides heads
    int64_t head_dim = 0;
    int64_t intermediate = 0;  // of the dense MLPs; 0 where every layer is a mixture
    bool qkv_bias = false;
    bool output_bias = false;  // bias of the attention's output projection
    bool mlp_bias = false;
    bool qk_norm = false;          // RMSNorm of queries and keys, one weight per head dimension
    bool attention_sinks = false;  // one learned logit per query head (gpt_oss)
    int64_t norms_per_layer = 2;   // RMSNorms over hidden (gemma3: 4)
    double norm_epsilon = 1e-6;    // rms_norm_eps
    std::string activation = "silu";
    double activation_limit = 0;  // gate and up are clamped to it (gpt_oss: swiglu_limit); 0: no clamp
    // Scores are multiplied by this to the power -1/2 (gemma3: query_pre_attn_scalar); 0: by head_dim's.
    double query_scalar = 0;
    int64_t max_context = 0;  // max_position_embeddings, as published
    Rope rope;
    Experts experts;
    LatentAttention latent;
    std::vector<Layer> layers;
    // Empty where the planner can train this model; else why not, by name.
    std::string not_trainable;

    int64_t layer_count() const { return static_cast<int64_t>(layers.size()); }
    int64_t q_size() const { return heads * head_dim; }      // all query heads
    int64_t kv_size() const { return kv_heads * head_dim; }  // all key heads (values alike)
    bool operator==(const Model&) const = default;
};

// Parameters by part, exact. `total` counts a tied head once.
struct Parameters {
    int64_t embedding = 0;
    int64_t attention = 0;  // projections, biases, q/k norms, sinks; all layers
    int64_t mlp = 0;        // dense MLPs, routers, experts; all layers
    int64_t norms = 0;      // RMSNorms over hidden, the last one included
    int64_t head = 0;       // 0 if tied
    int64_t active = 0;     // parameters that one token visits (experts_per_token of the experts)
    int64_t total() const { return embedding + attention + mlp + norms + head; }
};
Parameters count_parameters(const Model& model);
// Parameters of one layer, all parts.
int64_t layer_parameters(const Model& model, const Layer& layer);

// Values of K and V (or of the latent and its rope part) that one token leaves in one layer.
int64_t kv_values_per_token(const Model& model);
// Bytes that one token adds to all layers, windows ignored.
Bytes kv_bytes_per_token(const Model& model, Dtype dtype);
// Bytes of the KV of one layer after `context` tokens. `honour_windows`: a windowed layer
// keeps its window only.
Bytes kv_bytes(const Model& model, const Layer& layer, Dtype dtype, Tokens context, bool honour_windows);
Bytes kv_bytes(const Model& model, Dtype dtype, Tokens context, bool honour_windows);

// FLOPs of one forward pass of `context` tokens of one sequence, by part; a multiply-add counts 2.
// Attention counts the keys that the causal mask and the window leave. Exact below 2^53,
// else rounded.
struct Flops {
    double attention_projections = 0;  // q, k, v, output; all layers
    double attention = 0;              // QK^T and PV; all layers
    double mlp = 0;                    // incl. routers; visited experts only
    double head = 0;                   // logits
    double total() const { return attention_projections + attention + mlp + head; }
};
Flops forward_flops(const Model& model, Tokens context);
// Keys that all queries of `context` tokens see together in one layer (causal, window, own key included).
double attended_keys(const Layer& layer, Tokens context);

// A Hugging Face config.json, as text. `where` names it in errors; `name` becomes Model::name.
// Multimodal configs with a `text_config` (gemma3) are read through it.
Result<Model> parse_model(std::string_view json, const std::string& where, const std::string& name);
// `name_or_path`: a folder of models/llm under `data`, or a path to a config.json or its folder.
// Error of an unknown name lists the nearest and the shipped ones.
Result<Model> read_model(const std::string& name_or_path, const std::filesystem::path& data);
// Names of the shipped models, sorted.
std::vector<std::string> shipped_models(const std::filesystem::path& data);

}  // namespace headroom
