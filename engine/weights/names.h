// The weights of a model under their published names.
// Source: transformers, models/{llama,mistral,qwen2,qwen3,qwen3_moe,gpt_oss,gemma3}: the modules' parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace headroom {

enum class WeightRole : uint8_t {
    matrix,  // of a linear map or the embedding, [out, in]
    bias,
    norm,  // scale of an RMSNorm (gemma3: what is added to 1)
    sink,  // gpt_oss: one logit per query head
};

struct WeightSpec {
    std::string name;  // "model.layers.0.self_attn.q_proj.weight"
    std::vector<int64_t> shape;
    WeightRole role = WeightRole::matrix;

    bool operator==(const WeightSpec&) const = default;
};
int64_t elements_of(const WeightSpec& weight);

// All weights: the embedding, the layers in order (attention, MLP, norms), the last norm, the head unless it
// is the embedding. gpt_oss keeps all experts of a layer in one tensor [experts, in, out]; gate and up
// alternate. Error: latent attention (deepseek_v3), which the engine does not run.
Result<std::vector<WeightSpec>> weights_of(const Model& model);

// Those of one layer, as weights_of() lists them; 0 <= layer < layer_count().
Result<std::vector<WeightSpec>> layer_weights_of(const Model& model, int64_t layer);

}  // namespace headroom
