#include "base/dtype.h"

#include <array>
#include <string>
#include <vector>

#include "base/text.h"

namespace headroom {
namespace {

struct Format {
    Dtype dtype;
    std::string_view name;
    int64_t block_elements;
    int64_t block_bytes;
};

constexpr std::array kFormats{
    Format{Dtype::fp64, "fp64", 1, 8},   Format{Dtype::fp32, "fp32", 1, 4}, Format{Dtype::bf16, "bf16", 1, 2},
    Format{Dtype::fp16, "fp16", 1, 2},   Format{Dtype::fp8, "fp8", 1, 1},   Format{Dtype::int8, "int8", 1, 1},
    Format{Dtype::q8_0, "q8_0", 32, 34},
};

// The table stands in the order of the enumeration.
const Format& format_of(Dtype dtype) {
    return kFormats.at(static_cast<size_t>(dtype));
}

}  // namespace

Bytes bytes_of(Dtype dtype, int64_t elements) {
    const Format& format = format_of(dtype);
    return Bytes(checked_mul(ceil_div(elements, format.block_elements), format.block_bytes));
}

std::string_view name_of(Dtype dtype) {
    return format_of(dtype).name;
}

Result<Dtype> parse_dtype(std::string_view name, const std::string& where) {
    std::vector<std::string> names;
    for (const Format& format : kFormats) {
        if (format.name == name) return format.dtype;
        names.emplace_back(format.name);
    }
    std::string found = "'" + std::string(name) + "' is not a number format";
    if (const std::string near = nearest(name, names); !near.empty())
        found += " (did you mean '" + near + "'?)";
    return fail(where, std::move(found), one_of(names));
}

}  // namespace headroom
