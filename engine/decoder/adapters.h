// LoRA: W x becomes W x + (alpha / r) B (A x), and only A [r, in] and B [out, r] are trained.
// Source: Hu et al., arXiv 2106.09685; names, shapes and scale as PEFT has them.
//
// Projections that read the same input form a group: q, k, v; o; gate, up; down. In the flat buffer of all
// adapters a layer's groups follow each other in this order, each with the A of its targets, stacked into one
// matrix, then the B of each. Offsets are in elements.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <vector>

#include "decoder/parameters.h"
#include "model/model.h"
#include "plan/plan.h"

namespace headroom::engine {

enum class Projection : uint8_t { qkv, out, gate_up, down };
inline constexpr size_t kProjections = 4;

// The adapters of one group: n of its projections have one.
struct AdapterGroup {
    struct Part {
        int64_t first = 0, size = 0;  // columns of the group's output
        at::Tensor b;                 // [size, r]
    };
    at::Tensor a;  // [n r, in]; undefined: none of the group is a target
    std::vector<Part> parts;
};
using LayerAdapters = std::array<AdapterGroup, kProjections>;  // by Projection

// Every A and B in buffer order. Sum of elements = ParameterUnits::adapters.
std::vector<Parameter> adapter_list(const Model& model, const Recipe& recipe);
// By layer: views of a flat buffer; nothing is copied.
std::vector<LayerAdapters> adapters_in(const Model& model, const Recipe& recipe, const at::Tensor& flat);
// Those of one layer alone in a flat buffer.
LayerAdapters layer_adapters_in(const Model& model, const Recipe& recipe, const at::Tensor& flat);

// y [T, out] += scale B (A x) of x [T, in]. `inner` [T, n r]: scratch.
void adapter_forward(const AdapterGroup& group, double scale, const at::Tensor& x, at::Tensor y,
                     at::Tensor inner);
// Adds the gradient of x to d_x, those of A and B to `sums`, given that of y. A x is computed again.
// `inner`, `d_inner` [T, n r]: scratch.
void adapter_backward(const AdapterGroup& group, double scale, const at::Tensor& x, const at::Tensor& d_y,
                      at::Tensor d_x, const AdapterGroup& sums, at::Tensor inner, at::Tensor d_inner);

}  // namespace headroom::engine
