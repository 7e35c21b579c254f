// Unpacks gzip piece by piece, for texts that are used as they come. Whole ones: gunzip of file.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headroom {

class Gunzip {
public:
    // `packed` must outlive it. `where` names the file in errors.
    Gunzip(std::string_view packed, std::string where, int64_t limit_bytes);
    ~Gunzip();
    Gunzip(const Gunzip&) = delete;
    Gunzip& operator=(const Gunzip&) = delete;

    // Fills `into`, which is not empty, wholly unless the content ends before; the number of bytes that were
    // written, 0: nothing more. Checksums are checked by then. Errors as of gunzip; after one, do not go on.
    // Cost: about 2.5 ns a byte.
    Result<size_t> next(std::span<char> into);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace headroom
