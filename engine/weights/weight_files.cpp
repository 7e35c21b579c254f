#include "weights/weight_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::vector<int64_t>& shape) {
    std::string text = "[";
    for (const int64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + "]";
}

}  // namespace

Result<WeightFiles> WeightFiles::open(const fs::path& path) {
    WeightFiles weights;
    weights.path_ = path;
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        HEADROOM_CHECK(path.extension() == ".json" ? weights.add_index(path) : weights.add_file(path));
        return weights;
    }
    const fs::path single = path / "model.safetensors";
    const fs::path index = path / "model.safetensors.index.json";
    if (fs::exists(single, ignored)) {
        HEADROOM_CHECK(weights.add_file(single));
    } else if (fs::exists(index, ignored)) {
        HEADROOM_CHECK(weights.add_index(index));
    } else {
        return fail(path.string(), "holds no weights",
                    "a folder with model.safetensors or model.safetensors.index.json");
    }
    return weights;
}

Result<void> WeightFiles::add_file(const fs::path& path) {
    HEADROOM_TRY(SafetensorsFile file, SafetensorsFile::open(path));
    files_.push_back(std::move(file));
    for (const auto& [name, tensor] : files_.back().tensors()) {
        const auto [place, is_new] = places_.emplace(name, Place{files_.size() - 1, &tensor});
        if (!is_new)
            return fail(path.string() + ", tensor '" + name + "'",
                        "is in " + files_[place->second.file].path().string() + " too",
                        "each tensor in one file");
    }
    return {};
}

Result<void> WeightFiles::add_index(const fs::path& path) {
    constexpr int64_t kLargestIndex = 100'000'000;
    HEADROOM_TRY(const std::string text, read_file(path, kLargestIndex));
    const nlohmann::json index = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    const auto map = index.is_object() ? index.find("weight_map") : index.end();
    if (!index.is_object() || map == index.end() || !map->is_object())
        return fail(path.string(), "no index of weights", "{\"weight_map\": {tensor: file}}");

    std::map<std::string, std::vector<std::string>>
        files;  // sorted: errors do not depend on the index's order
    for (const auto& [tensor, file] : map->items()) {
        const std::string name = file.is_string() ? file.get<std::string>() : "";
        if (name.empty() || name == ".." || name.find('/') != std::string::npos)
            return fail(path.string() + ", tensor '" + tensor + "'", "'" + name + "'",
                        "a file in the same folder");
        files[name].push_back(tensor);
    }
    for (const auto& [name, tensors] : files) {
        HEADROOM_CHECK(add_file(path.parent_path() / name));
        for (const std::string& tensor : tensors)
            if (!files_.back().tensors().contains(tensor))
                return fail(path.string() + ", tensor '" + tensor + "'", "'" + name + "' does not hold it",
                            "the file that holds it");
    }
    return {};
}

Result<StoredTensor> WeightFiles::need(const WeightSpec& weight) const {
    const auto place = places_.find(weight.name);
    if (place == places_.end()) {
        const std::string near = nearest(weight.name, names());
        return fail(
            path_.string(),
            "holds no tensor '" + weight.name + "'" + (near.empty() ? "" : "; nearest: '" + near + "'"),
            "all weights of the model");
    }
    const StoredTensor& tensor = *place->second.tensor;
    const std::string where = files_[place->second.file].path().string() + ", tensor '" + weight.name + "'";
    if (tensor.shape != weight.shape)
        return fail(where, "shape " + text_of(tensor.shape),
                    text_of(weight.shape) + ", as the model's config says");
    if (tensor.dtype != "F64" && tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16")
        return fail(where, "dtype " + tensor.dtype, "F64, F32, F16, BF16");
    return tensor;
}

std::vector<std::string> WeightFiles::names() const {
    std::vector<std::string> out;
    for (const auto& [name, place] : places_) out.push_back(name);
    return out;
}

}  // namespace headroom
