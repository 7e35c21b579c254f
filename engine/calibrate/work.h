// The engine's own calls, as pieces of work to be timed, on shared operands. Building one never throws: what
// fails is its problem.
#pragma once

#include "calibrate/bench.h"
#include "calibrate/operands.h"
#include "calibrate/shapes.h"

namespace headroom::engine {

Timed gemm_work(const GemmRow& row, Operands& operands);
// The gradient of a weight: fp32 sums.
Timed accumulate_work(const GemmRow& row, Operands& operands);

// Backward with the merged output of all keys, as plans have it: dQ is added to where the keys are the past,
// and lies inside of d_qkv where they are the chunk's own. Blocks: each with keys of its own. On a GPU
// through cuDNN's graph API where use_cudnn_graph is on. Deterministic: backward, if it is asked for and has
// such a form (on a GPU: through cuDNN's graph API); else its problem is kNotMeasured.
inline constexpr const char* kNotMeasured = "not measured";
struct AttentionWork {
    Timed forward, backward, deterministic;
    double workspace_mib = 0, deterministic_workspace_mib = 0;  // that the library asks for
    std::string library;
};
AttentionWork attention_work(const AttentionRow& row, Operands& operands, bool deterministic);

// Fills rows, columns and bytes of `row`: what the planner counts for the op.
Timed memory_work(const MemoryShape& shape, Operands& operands, MemoryRow& row);
// An op of next to no work.
std::function<void()> smallest_work(Operands& operands);

// `build` with what it throws as the problem.
Timed built(std::string name, const std::function<std::function<void()>()>& build);

}  // namespace headroom::engine
