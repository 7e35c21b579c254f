// Number formats of tensors and what an array of them occupies.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace headroom {

enum class Dtype : uint8_t {
    fp64,
    fp32,
    bf16,
    fp16,
    fp8,   // e4m3, scales stored apart
    int8,  // scales stored apart
    q8_0,  // GGML block format: 32 int8 values and one fp16 scale in 34 bytes
};

// Bytes of `elements` values. q8_0 takes whole blocks of 32 (rounded up).
Bytes bytes_of(Dtype dtype, int64_t elements);
std::string_view name_of(Dtype dtype);
// Error names the formats that exist.
Result<Dtype> parse_dtype(std::string_view name, const std::string& where);

}  // namespace headroom
