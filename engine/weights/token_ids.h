// The token ids that a step trains on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace headroom {

// Ids `first` to `first` + `count` - 1 of a file: `.npy` (NumPy's format 1 to 3: one dimension, little-endian
// uint32, int32 or int64), any other name: raw little-endian uint32. Cost: those ids; the rest is not read.
// Errors name the file: malformed, another type or shape, too few ids, an id outside of 0 <= id < vocabulary
// (with its index).
Result<std::vector<int32_t>> read_token_ids(const std::filesystem::path& path, Tokens first, Tokens count,
                                            int64_t vocabulary);
// How many ids the file holds; none is read. Errors: missing, malformed, another type or shape.
Result<Tokens> count_token_ids(const std::filesystem::path& path);
// Uniform over the vocabulary (< 2^31), the same for the same seed; a later `first` goes on where an earlier
// ended.
std::vector<int32_t> random_token_ids(uint64_t seed, Tokens first, Tokens count, int64_t vocabulary);

}  // namespace headroom
