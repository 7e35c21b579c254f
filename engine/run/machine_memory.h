// Whether a program's arenas find room on this machine, before anything of it is allocated.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "program/program.h"

namespace headroom::engine {

struct MachineMemory {
    std::string device;  // its name, for errors
    int64_t device_bytes = 0, device_free_bytes = 0;
    int64_t host_bytes = 0;       // of the whole machine
    bool device_is_host = false;  // on the CPU both arenas lie in host memory
};

// Of this process's machine and `device`.
MachineMemory machine_memory(const at::Device& device);

// Errors (Fault::does_not_fit) name tier, bytes, and the largest buffer there: an arena larger than all
// memory of its tier. (Fault::run_failed): it would fit, but other processes hold too much of the device.
Result<void> check_memory(const Program& program, const MachineMemory& memory, const std::string& where);

}  // namespace headroom::engine
