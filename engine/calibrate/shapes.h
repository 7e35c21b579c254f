// Which shapes are measured: those that plans of published models make.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/measured.h"

namespace headroom::engine {

// What a layer's shapes follow from. qkv() values are projected at once.
struct Dims {
    int64_t hidden, heads, kv_heads, head_dim, inner, vocabulary;
    bool bias;  // of q, k and v
    int64_t q() const { return heads * head_dim; }
    int64_t kv() const { return kv_heads * head_dim; }
    int64_t qkv() const { return q() + 2 * kv(); }
};

// A memory-bound op: its kind in a program, and of which layer and how many tokens.
struct MemoryShape {
    std::string kernel;
    Dims dims;
    int64_t tokens;
};

// Rows without figures: every fifth is held out.
struct Shapes {
    std::vector<GemmRow> gemm, gemm_accumulate;
    std::vector<AttentionRow> attention;
    std::vector<MemoryShape> memory;
    std::vector<TransferRow> transfers;  // opposite of 1: both directions at once
};

enum class Extent : uint8_t {
    full,   // of a GPU
    quick,  // of a GPU: a tenth of it
    cpu,    // small ones
    cpu_quick,
};
Shapes shapes_of(Extent extent);

// One GEMM, one attention, a copy in large pieces and on a GPU one in small ones: what a machine is checked
// by. The same for every GPU, and for every CPU.
Shapes checked_shapes(bool gpu);

}  // namespace headroom::engine
