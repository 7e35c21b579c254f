// Where each parameter stands inside the one buffer of all weights, and alike inside that of their gradients.
//
// The parameters are those of weights_of() in its order, but that biases stand after everything else: so a
// layer's q, k and v are one matrix, their biases one vector, gate and up one matrix. Every matrix is [out,
// in], row-major, as transformers stores it. Offsets are in elements.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "model/model.h"
#include "weights/names.h"

namespace headroom::engine {

struct Parameter {
    WeightSpec weight;   // name as transformers has it, and shape
    int64_t offset = 0;  // elements
    int64_t elements() const { return elements_of(weight); }
};

// One layer's parameters as the decoder uses them: views into the buffer.
struct LayerParameters {
    at::Tensor input_norm;  // [H]
    at::Tensor qkv;         // [Q + 2 KV, H]
    at::Tensor qkv_bias;    // [Q + 2 KV], or undefined
    at::Tensor out;         // [H, Q]
    at::Tensor out_bias;    // [H], or undefined
    at::Tensor q_norm;      // [d], or undefined; k_norm alike
    at::Tensor k_norm;
    at::Tensor sinks;                               // [h], or undefined
    at::Tensor mlp_norm;                            // [H]: before the MLP
    at::Tensor post_attention_norm, post_mlp_norm;  // [H] where a layer has four norms, or undefined
    at::Tensor gate_up;                             // [2 I, H]: gate, then up
    at::Tensor down;                                // [H, I]
};

struct ModelParameters {
    at::Tensor embedding;  // [V, H]
    std::vector<LayerParameters> layers;
    at::Tensor final_norm;  // [H]
    at::Tensor head;        // [V, H]; the embedding where tied
};

// gemma3: norms multiply by 1 + weight, and embeddings by sqrt(hidden). Source: transformers, models/gemma3.
bool norms_add_one(const Model& model);
double embedding_scale(const Model& model);  // 1 elsewhere

// Every parameter in buffer order. The engine must run the model (check_supported). Sum of elements =
// count_parameters().total().
std::vector<Parameter> parameter_list(const Model& model);
// Views of a flat buffer of count_parameters().total() elements; nothing is copied.
ModelParameters parameters_in(const Model& model, const at::Tensor& flat);

// Where one layer stands in the buffer: matrices and norms, and apart from them its biases. Elements.
struct LayerRange {
    int64_t first = 0, count = 0, bias_first = 0, bias_count = 0;
};
LayerRange layer_range(const Model& model, int64_t layer);
// Views of one layer alone in a flat buffer: its matrices and norms, then its biases.
LayerParameters layer_in(const Model& model, const at::Tensor& flat);

}  // namespace headroom::engine
