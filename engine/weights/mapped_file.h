// A file's bytes as read-only memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace headroom {

// Contract: move-only. Pages are read when they are first looked at, so that opening costs nothing however
// large the file. A file that another process cuts short meanwhile ends this one (SIGBUS).
class MappedFile {
public:
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    // Errors: missing, no regular file, not readable. An empty file has no bytes.
    static Result<MappedFile> open(const std::filesystem::path& path);

    std::span<const std::byte> bytes() const { return bytes_; }

private:
    explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
};

}  // namespace headroom
