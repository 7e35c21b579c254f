// One file in the safetensors format: named tensors behind a JSON header.
// Source: github.com/huggingface/safetensors, README, "Format": 8 bytes (little-endian) with the header's
// size, the header {"name": {"dtype", "shape", "data_offsets": [begin, end)}, "__metadata__": {text: text}},
// the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "weights/mapped_file.h"

namespace headroom {

// A tensor as it stands in the file, row-major.
struct StoredTensor {
    std::string dtype;  // the format's word: "BF16", "F32", "I64", ...
    std::vector<int64_t> shape;
    // Aligned only as far as the file is: copy, do not compute on it. Lives as long as the file is open.
    std::span<const std::byte> data;
};

using Metadata = std::map<std::string, std::string, std::less<>>;
using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

class SafetensorsFile {
public:
    // Maps the file and checks its whole header: every shape against its bytes, no gap, no overlap, nothing
    // past the end. Cost: the header (100 MB at most, as in the format's own library); no data is read.
    static Result<SafetensorsFile> open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    const StoredTensors& tensors() const { return tensors_; }
    const Metadata& metadata() const { return metadata_; }

private:
    SafetensorsFile(std::filesystem::path path, MappedFile file)
        : path_(std::move(path)), file_(std::move(file)) {}
    Result<void> read_header();

    std::filesystem::path path_;
    MappedFile file_;
    StoredTensors tensors_;
    Metadata metadata_;
};

// The format's word for a number format and back; nothing where there is none.
std::optional<std::string_view> safetensors_dtype(Dtype dtype);
std::optional<Dtype> dtype_of_safetensors(std::string_view word);

}  // namespace headroom
