// What the engine says of a run while it runs: its JSON lines, gathered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom::fidelity {

struct EngineTold {
    std::string device;                // "NVIDIA H200, CUDA driver 13.0"; empty: it never started a step
    std::vector<double> step_seconds;  // by the host's clock
    std::vector<double> losses;        // NaN where the engine said null
    double gradient_norm = 0;          // of the last step
    int64_t device_arena_bytes = 0, host_arena_bytes = 0;
    int64_t device_used_bytes = 0;  // most that the driver had given away, to whatever process; 0: not told
    bool ended = false;
};

// Takes one line; a line that is no event changes nothing.
void take_line(EngineTold& told, const std::string& line);

}  // namespace headroom::fidelity
