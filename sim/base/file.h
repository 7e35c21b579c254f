// Whole files in and out. What is written appears under its name complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headroom {

// Reads a whole file, or a pipe to its end. Errors: missing, a directory, not readable, larger than
// `limit_bytes`, interrupted.
Result<std::string> read_file(const std::filesystem::path& path, int64_t limit_bytes);
// Writes to a temporary name in the same folder, then renames. On failure nothing is left behind.
// A path that exists but is no regular file (/dev/stdout, a pipe) is written to directly. A symbolic link
// stays one, and a file that is replaced passes on its permissions. Errors: Fault::run_failed; interrupted.
Result<void> write_file(const std::filesystem::path& path, std::string_view content);

// gzip (RFC 1952), in memory. Deterministic: no time stamp, no name, fixed level.
std::string gzip(std::string_view content);
// Errors: not gzip, truncated, checksum wrong, inflates to more than `limit_bytes`.
Result<std::string> gunzip(std::string_view packed, const std::string& where, int64_t limit_bytes);

// The folder that holds models/ and scenarios/: $HEADROOM_DATA, else the source tree or the install prefix
// found from the executable's own place. Error: none of them exists.
Result<std::filesystem::path> data_folder();

}  // namespace headroom
