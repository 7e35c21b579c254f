// From a shipped name, a folder or a config.json to a Model.
#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "model/check.h"
#include "model/families/family.h"
#include "model/model.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// Published files have a few KiB; one with a layer_types of many layers and a quantization list has 100.
constexpr int64_t kMostConfigBytes = 16 * kMiB;

std::string or_nearest(std::string_view name, const std::vector<std::string>& known) {
    const std::string near = nearest(name, known);
    return near.empty() ? "" : "; nearest: '" + near + "'";
}

Result<Family> family_of(ConfigTable& config) {
    HEADROOM_TRY(const ConfigValue type, config.need("model_type"));
    HEADROOM_TRY(const std::string name, type.as<std::string>());
    std::vector<std::string> known;
    for (const Family& family : families()) {
        if (family.name == name) return family;
        known.emplace_back(family.name);
    }
    return type.wrong(one_of(known) + or_nearest(name, known));
}

// The folder's name where the file has the standard one: "models/llm/Qwen2.5-7B/config.json".
std::string name_of(const fs::path& file) {
    std::error_code ignored;
    const fs::path whole = fs::absolute(file, ignored).lexically_normal();
    const fs::path named = whole.filename() == "config.json" ? whole.parent_path().filename() : whole.stem();
    return named.empty() ? "model" : named.string();
}

}  // namespace

Result<Model> parse_model(std::string_view json, const std::string& where, const std::string& name) {
    HEADROOM_TRY(ConfigTable root, parse_json(json, where));
    HEADROOM_TRY(const Family family, family_of(root));
    std::optional<ConfigTable> text;
    if (family.nested) {
        HEADROOM_TRY(text, root.get<ConfigTable>("text_config"));
    }
    ConfigTable& config = text ? *text : root;
    Model model;
    model.name = name;
    model.type = family.name;
    HEADROOM_CHECK(family.read(config, model));
    // No layer has a dense MLP of this size then, whatever the file says.
    const auto mixture = [](const Layer& layer) { return layer.mixture; };
    if (std::all_of(model.layers.begin(), model.layers.end(), mixture)) model.intermediate = 0;
    const SizePlaces places{config.place("num_attention_heads"), config.place("num_key_value_heads"),
                            config.place("num_hidden_layers")};
    HEADROOM_CHECK(check_sizes(places, model));
    return model;
}

Result<Model> read_model(const std::string& name_or_path, const fs::path& data) {
    std::error_code ignored;
    const std::vector<std::string> shipped = shipped_models(data);
    fs::path file = name_or_path;
    if (std::find(shipped.begin(), shipped.end(), name_or_path) != shipped.end()) {
        file = data / "models" / "llm" / name_or_path / "config.json";
    } else if (fs::is_directory(file, ignored)) {
        file /= "config.json";
    } else if (!fs::exists(file, ignored)) {
        return fail("model '" + name_or_path + "'", "no shipped model and no file or folder of this name",
                    one_of(shipped) + ", or a path to a config.json or its folder" +
                        or_nearest(name_or_path, shipped));
    }
    HEADROOM_TRY(const std::string text, read_file(file, kMostConfigBytes));
    return parse_model(text, file.string(), name_of(file));
}

std::vector<std::string> shipped_models(const fs::path& data) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(data / "models" / "llm", error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        if (fs::is_regular_file(entry->path() / "config.json", ignored))
            names.push_back(entry->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace headroom
