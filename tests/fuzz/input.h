// The fuzzer's bytes as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

inline std::string_view text_of(const uint8_t* data, size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}
