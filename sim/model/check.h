// The sizes of a model taken together.
#pragma once

#include "base/table.h"
#include "model/model.h"

namespace headroom {

// Bounds under which 2^30 tokens of anything that a step keeps fit int64_t bytes:
//   all heads of a layer 2^20; K and V of a token in all layers 2^28 (8 bytes each, twice: 2^62);
//   widths of a layer times layers 2^27 (32 bytes each: 2^62); parameters 2^50.
// Each size must have been read within its own bound (families/common.h). Errors name the key to look at.
Result<void> check_sizes(const ConfigTable& config, const Model& model);

}  // namespace headroom
