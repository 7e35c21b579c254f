// The strategies there are, each in a file of its own. To add one: its file, its line here and in
// strategies.cpp.
#pragma once

#include "strategy/strategy.h"

namespace headroom {

const Strategy& whole_sequence();
const Strategy& chunked();
const Strategy& layer_major();
const Strategy& ring_attention();
const Strategy& tensor_parallel();

}  // namespace headroom
