// Start and end of every op of a step: the wall clock on the CPU, CUDA events on a GPU.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "program/program.h"

namespace headroom::engine {

class OpClock {
public:
    virtual ~OpClock() = default;
    virtual void begin(OpId op) = 0;
    virtual void end(OpId op) = 0;
    // Nanoseconds from the start of the first op. Waits until all have ended.
    virtual void read(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) = 0;
};

std::unique_ptr<OpClock> make_clock(const at::Device& device, size_t ops);

}  // namespace headroom::engine
