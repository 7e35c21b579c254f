// What the chunked step can decide, with one GPU or with tensor-parallel ranks.
#pragma once

#include "strategy/grid.h"

namespace headroom {

Result<void> check_chunked(const Plan& plan);
Grid chunked_grid(const Scenario& scenario, std::string_view strategy, int64_t tensor_ranks);

}  // namespace headroom
