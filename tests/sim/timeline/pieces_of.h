// A text as what is unpacked piece by piece.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace headroom {

inline auto pieces_of(std::string_view text) {
    return [text](std::span<char> into) mutable -> Result<size_t> {
        const size_t n = text.copy(into.data(), into.size());
        text.remove_prefix(n);
        return n;
    };
}

}  // namespace headroom
