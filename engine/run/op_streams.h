// Where the ops of a step run, in which order, and when each started and ended.
//
// On a GPU each stream of the program is a CUDA stream, each wait an event: an op is handed over in the order
// of ids and starts when the ops that it waits for have ended, so the host runs ahead. On the CPU the order
// of ids is the order of the step (waits lead to lower ids), by the wall clock; but ops of the disk run aside
// there too.
#pragma once

#include <ATen/ATen.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "program/program.h"

namespace headroom::engine {

class OpStreams {
public:
    virtual ~OpStreams() = default;
    // A step begins: all streams are empty.
    virtual void begin_step() = 0;
    // Makes the op's stream current (also for ATen) and lets it wait for what the op waits for.
    virtual void begin(OpId op) = 0;
    virtual void end(OpId op) = 0;
    // What was handed over since the last lap, or since the op in work began, is the work of `op`: of that op
    // itself, or of one of those right after it, which then do nothing of their own. read() lays these ops
    // end to end, each as long as its laps.
    virtual void lap(OpId op) = 0;
    // The op in work, of the disk's stream, is `job`: called on another thread, once what the op waits for
    // and the op before it on its stream have ended; what waits for the op waits for its end. It must not
    // throw nor call CUDA. Empty: nothing to do.
    virtual void run_aside(std::function<void()> job) = 0;
    // The stream of the op that is being handed over; null on the CPU.
    virtual cudaStream_t stream() const = 0;
    // Blocks the host until this op, handed over before, has ended.
    virtual void wait_for(OpId op) = 0;
    // Waits until all ops have ended. Nanoseconds from the start of the first op. Resolution: 0.5 us on a
    // GPU.
    virtual void read(std::vector<int64_t>& start_ns, std::vector<int64_t>& end_ns) = 0;
    // Waits until nothing runs any more, whatever was handed over.
    virtual void drain() = 0;
};

// `program` must outlive it. Cost: one event an op and a lap, and one more where it waits, about 1 us each.
std::unique_ptr<OpStreams> make_streams(const at::Device& device, const Program& program);

}  // namespace headroom::engine
