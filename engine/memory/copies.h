// Copies between the arenas of device and host: gathered, merged where they are neighbours, and handed over
// in one call.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace headroom {

class Copies {
public:
    // Empties the list; its memory is kept for the next use.
    void clear();
    // One more piece. A piece that continues the one before it, in source and target, becomes part of it.
    void add(void* to, const void* from, int64_t bytes);
    size_t pieces() const { return bytes_.size(); }
    int64_t bytes() const;

    // On the CPU, at once.
    void run() const;
    // On `stream`, in its order: one cudaMemcpyAsync, or one cudaMemcpyBatchAsync of all pieces (50 GB/s at
    // pieces of 256 KiB where single calls reach 32; on an H200). `loop`: a call for each piece. Host memory
    // must be pinned and stay. Error: what CUDA says.
    Result<void> issue(cudaStream_t stream, bool loop = false);

private:
    std::vector<void*> to_;
    std::vector<const void*> from_;
    std::vector<size_t> bytes_;
};

}  // namespace headroom
