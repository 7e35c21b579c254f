// The sizes of a model: the bound of each, and of all taken together. config.json and plan.json keep the same
// ones.
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"

namespace headroom {

// The largest size of each kind. With check_sizes() they keep every later product inside int64_t.
inline constexpr int64_t kMostWidth = int64_t{1} << 20;  // hidden, intermediate, all heads together, a rank
inline constexpr int64_t kMostLayers = int64_t{1} << 12;
inline constexpr int64_t kMostExperts = int64_t{1} << 12;
inline constexpr int64_t kMostVocabulary = int64_t{1} << 24;
inline constexpr int64_t kMostTokens = int64_t{1} << 30;  // a window, a context

// Where the two kinds of file name these sizes, for errors.
struct SizePlaces {
    std::string heads, kv_heads, layers;
};

// Bounds under which 2^30 tokens of anything that a step keeps fit int64_t bytes:
//   all heads of a layer 2^20; K and V of a token in all layers 2^28 (8 bytes each, twice: 2^62);
//   widths of a layer times layers 2^27 (32 bytes each: 2^62); parameters 2^50.
// Each size must have been read within its own bound. Errors name the key to look at.
Result<void> check_sizes(const SizePlaces& at, const Model& model);

}  // namespace headroom
