// Seeded random values: a function of seed, name and index alone, so that neither order, nor threads, nor the
// machine change a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "weights/names.h"

namespace headroom {

// Values around `mean` with standard deviation `deviation`.
struct RandomValues {
    uint64_t seed = 0;
    double mean = 0;
    double deviation = 0.02;  // initializer_range of the published configs
    bool uniform = false;     // each as likely, to sqrt(3) deviations from the mean; else near to normal
};

// Value i, i >= 0, of the tensor `name` is
//     mean + deviation x (sum of the four 16-bit parts of mix(key + (i + 1) g) - 131070) / sqrt((2^32 - 1) /
//     3)
// with splitmix64's mix and g = 2^64 / golden ratio (Steele, Lea, Flood, 2014) and key = mix(seed ^
// FNV-1a(name)): the sum of four uniform numbers, near to normal, at most 3.46 deviations from the mean, and
// without a library's logarithm, whose last bit differs between machines. `uniform`:
//     mean + deviation x sqrt(3) (2 u - 1), u = the upper 53 bits of mix(...) x 2^-53.
//
// Writes values first, first + 1, ... to `out`, which holds whole elements of `dtype` and is aligned to them,
// rounded to nearest even (bf16: of the value in fp32). Cost: 1 to 2 ns each; cut a large tensor by `first`
// to use more cores. Error: a dtype other than fp64, fp32, bf16.
Result<void> fill_random(std::string_view name, const RandomValues& values, Dtype dtype, int64_t first,
                         std::span<std::byte> out);

// What a weight begins with: matrices, biases and sinks N(0, 0.02), norms N(1, 0.02) (gemma3, which adds 1
// itself: N(0, 0.02)). Not all 1 and 0 as in a fresh model: a mix-up of two norms or biases would not show.
RandomValues initial_values(const Model& model, const WeightSpec& weight, uint64_t seed);

// Value i of the sequence `name`, 0 <= value < bound; each as likely to within bound / 2^32.
std::vector<int32_t> random_ids(std::string_view name, uint64_t seed, int64_t first, int64_t count,
                                int32_t bound);

}  // namespace headroom
