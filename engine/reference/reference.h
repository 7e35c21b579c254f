// The same model in plain autograd, the whole sequence at once: the truth that tests hold the engine against.
// Nothing here knows plans; chunks and pages only where a recorded selection is a mask.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "model/model.h"
#include "plan/plan.h"

namespace headroom::engine {

struct ReferenceResult {
    // Mean over the targets of all sequences: every token but the first, predicted by the one before it.
    double loss = 0;
    at::Tensor gradients;  // of what is trained: flat, in its order and type
};

// What sparse attention leaves of the past: a query sees its own chunk causally, and of earlier chunks the
// pages that its block selected.
struct ReferenceSelection {
    int64_t page = 0, chunk = 0, block = 0;  // tokens; blocks begin anew in each chunk
    // pages[layer][block of the sequence, chunk by chunk]: page numbers, in any order. A layer without rows
    // (or none at all) attends all of its past.
    std::vector<std::vector<std::vector<int32_t>>> pages;
    bool operator==(const ReferenceSelection&) const = default;
};

// Pages of earlier chunks as bf16, or fp8 (e4m3) with a scale for each page and head, gives them, K after
// rotation; the own chunk is read as it is. Gradients pass the rounding unchanged (straight through). chunk
// 0: no such pages.
struct ReferencePages {
    int64_t page = 0, chunk = 0;
    bool fp8 = true;
    bool operator==(const ReferencePages&) const = default;
};

// LoRA: only these are trained; `flat`: in the order of adapter_list(), or undefined: none.
struct ReferenceAdapters {
    Recipe recipe;
    at::Tensor flat;
};

// `weights`: flat, in the order of parameter_list(); `tokens`: [N] or [batch, N], int64. Cost: O(N^2) memory.
ReferenceResult reference_step(const Model& model, const at::Tensor& weights, const at::Tensor& tokens,
                               bool honour_windows = true, const ReferenceSelection& selection = {},
                               const ReferenceAdapters& adapters = {}, const ReferencePages& pages = {});

}  // namespace headroom::engine
