// Times pieces of work as they run in a step: between others, each on a machine that is warm and busy.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace headroom::engine {

// One piece of work, and what came of it.
struct Timed {
    std::string name;            // "gemm 4096 x 3584 x 37888", for messages
    std::function<void()> work;  // queues it on the current stream; may throw c10::Error
    double seconds = 0;          // median of its calls; 0: none
    double spread = 0;           // distance of the quartiles over the median
    std::string problem;         // why it was skipped
};

// Told where the work stands: what is done, and the share of it. False: the user wants an end.
using Doing = std::function<bool(const std::string& doing, double share)>;

// `samples` in place; the median, and the quartiles' distance over it in thousandths. At least one sample.
struct Middle {
    double median = 0, spread = 0;
};
Middle middle_of(std::vector<double>& samples);

struct Rounds {
    double warm_seconds = 0;       // untimed rounds until so long has passed
    int rounds = 1;                // timed
    std::function<void()> before;  // each round: puts data in place again
};

// Calls each piece once alone: one that throws, or that CUDA refuses, gets a problem and is left out. Then
// all of them in rounds, each round in an order of its own (the same in every process), one event between two
// pieces: so every piece finds caches and clocks as the others left them, as the ops of a step do, and its
// time is from the end of the one before it to its own. Errors: interrupted; run_failed where a piece ended
// CUDA's context, with its name.
Result<void> time_in_rounds(std::span<Timed> pieces, const Rounds& rounds, const at::Device& device,
                            const std::string& doing, const Doing& progress);

// Seconds from `begin` to the end of what it queues on the current stream; waits for it.
double seconds_of(const at::Device& device, const std::function<void()>& work);

// The first line of what a caught exception says.
std::string problem_of(const std::exception& e);

}  // namespace headroom::engine
