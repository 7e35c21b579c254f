// The links: host memory, peers, and what copies and kernels take from each other.
#pragma once

#include <optional>

#include "calibrate/bench.h"
#include "calibrate/operands.h"
#include "calibrate/shapes.h"
#include "memory/arena.h"

namespace headroom::engine {

// Two arenas with room for `bytes` scattered: twice as much.
struct LinkMemory {
    std::optional<Arena> device, host;
    double pin_s_per_gib = 0;  // of the host's: mapped, touched, registered; 0: not pinned
};
// Errors: Arena's.
Result<LinkMemory> link_memory(const at::Device& device, int64_t bytes);

// What was skipped, and why.
using Skip = std::function<void(const std::string& what, const std::string& why)>;

// Rows whose copies fit the arenas, measured: `repeats` times each. Error: interrupted.
Result<std::vector<TransferRow>> measure_transfers(const std::vector<TransferRow>& rows, LinkMemory& memory,
                                                   const at::Device& device, int repeats, const Skip& skip,
                                                   const Doing& progress);
// One copy at a time, the host waiting for each.
Result<std::vector<CopyRow>> measure_waited_copies(LinkMemory& memory, const at::Device& device, int repeats,
                                                   const Skip& skip);
// Kernels beside copies; a GPU only.
Result<std::vector<BesideRow>> measure_beside(Operands& operands, LinkMemory& memory,
                                              const at::Device& device, bool quick, const Skip& skip,
                                              const Doing& progress);
// From this GPU to the next one: nothing where there is none.
Result<std::vector<PeerRow>> measure_peers(const at::Device& device, int repeats, const Skip& skip);
// A file of `bytes` in `folder`, written and read past the system's cache; it is removed again.
Result<std::vector<DiskRow>> measure_disk(const std::string& folder, int64_t bytes, int repeats,
                                          const Skip& skip);

}  // namespace headroom::engine
