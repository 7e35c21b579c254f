// The step in layer-major order: all chunks through one layer, then the next. One layer's pages are on the
// device at a time; the hidden states of every chunk wait (on the device or the host) between layers.
//
//   forward, layers up     per chunk: load x, K and V to the layer's pages, attention, MLP, store x of the
//   next layer head                   per chunk: loss and its gradient backward, layers down  K and V of all
//   chunks again from their x; then chunks last to first: forward again,
//                          backward; the gradient of x replaces the one of the layer above
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.h"
#include "program/program.h"

namespace headroom {

Program layer_step(const Plan& plan, const LowerOptions& options = {});

}  // namespace headroom
