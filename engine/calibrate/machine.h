// What machine this is.
#pragma once

#include <ATen/core/Tensor.h>

#include "hardware/measured.h"

namespace headroom::engine {

// Names, versions and sizes; no figure of it is timed. library_memory: what the device's memory in use is
// beyond what this process allocated itself, so it is right once the libraries have run, and if no other
// process uses the device; of a CPU: what the process holds.
MeasuredOn machine_of(const at::Device& device);
int64_t library_memory(const at::Device& device);

}  // namespace headroom::engine
