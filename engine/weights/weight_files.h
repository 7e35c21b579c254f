// A model's published weights: one safetensors file, or several with an index.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "weights/names.h"
#include "weights/safetensors.h"

namespace headroom {

class WeightFiles {
public:
    // `path`: a .safetensors file, an index (*.index.json), or a folder that holds model.safetensors or
    // model.safetensors.index.json (in this order, as transformers looks). Opens every file that the index
    // names. Errors: missing or malformed files; a tensor that the index places in a file without it.
    static Result<WeightFiles> open(const std::filesystem::path& path);

    // The tensor of that name and shape, in a number format that the engine computes with (F64, F32, F16,
    // BF16). Lives as long as this object. Errors name the file, what was found, and the nearest name.
    Result<StoredTensor> need(const WeightSpec& weight) const;
    std::vector<std::string> names() const;                      // sorted
    const std::filesystem::path& path() const { return path_; }  // as opened

private:
    Result<void> add_file(const std::filesystem::path& path);
    Result<void> add_index(const std::filesystem::path& path);

    struct Place {
        size_t file = 0;
        const StoredTensor* tensor = nullptr;  // inside files_; maps keep their places
    };
    std::filesystem::path path_;
    std::vector<SafetensorsFile> files_;
    std::map<std::string, Place, std::less<>> places_;
};

}  // namespace headroom
