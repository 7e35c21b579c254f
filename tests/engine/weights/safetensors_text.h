// safetensors files of a test, byte by byte.
#pragma once

#include <cstdint>
#include <string>

namespace headroom {

// A file of this header and data; `claimed`: the header's size as the file states it, if not the true one.
inline std::string safetensors_text(const std::string& header, const std::string& data = "",
                                    int64_t claimed = -1) {
    const auto size = static_cast<uint64_t>(claimed >= 0 ? claimed : static_cast<int64_t>(header.size()));
    std::string text;
    for (int i = 0; i < 8; ++i) text += static_cast<char>((size >> (8 * i)) & 0xFFU);
    return text + header + data;
}

}  // namespace headroom
