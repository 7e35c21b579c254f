// From a config.json, a folder or a shipped name to a Model.
#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "model/model.h"
#include "model/types/type.h"

namespace headroom {
namespace {

constexpr int64_t kMostConfigBytes = 16 * kMiB;

Result<void> check_sizes(const Model& m, const std::string& where) {
    try {
        // Whatever is multiplied later must fit: 16 bytes for each parameter, K and V of 2^30 tokens in fp32.
        const int64_t h = m.hidden;
        (void)checked_mul(checked_mul(checked_mul(h, m.q_size() + m.intermediate + m.vocabulary), 8), m.layer_count());
        (void)checked_mul(checked_mul(checked_mul(h, m.experts.intermediate), 4 * (m.experts.count + m.experts.shared)), m.layer_count());
        if (checked_mul(count_parameters(m).total(), 64) < 0) return {};
        (void)checked_mul(checked_mul(kv_values_per_token(m), m.layer_count()), int64_t{1} << 32);
    } catch (const Overflow&) {
        return fail(where, "the sizes of this model multiply to more than 2^63", "a model that exists");
    }
    return {};
}

}  // namespace

Result<Model> parse_model(std::string_view json, const std::string& where, const std::string& name) {
    HEADROOM_TRY(ConfigTable root, parse_json(json, where));
    HEADROOM_TRY(const std::string type, root.need<std::string>("model_type"));
    std::vector<std::string> known;
    for (const ModelType& t : model_types()) known.emplace_back(t.name);
    const auto found = std::find_if(model_types().begin(), model_types().end(), [&](const ModelType& t) { return t.name == type; });
    if (found == model_types().end()) {
        const std::string near = nearest(type, known);
        return fail(root.place("model_type"), "model type '" + type + "' is not known" + (near.empty() ? "" : " (nearest: '" + near + "')"), one_of(known));
    }
    Model model;
    model.name = name;
    model.type = type;
    // Multimodal files keep the language model apart.
    HEADROOM_TRY(std::optional<ConfigTable> text, root.get<ConfigTable>("text_config"));
    try {
        HEADROOM_CHECK(found->read(text ? *text : root, model));
    } catch (const Overflow& e) {
        return fail(where, e.what(), "a model that exists");
    }
    HEADROOM_CHECK(check_sizes(model, where));
    return model;
}

Result<Model> read_model(const std::string& name_or_path, const std::filesystem::path& data) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    fs::path path = data / "models" / "llm" / name_or_path / "config.json";
    std::string name = name_or_path;
    const bool plain_name = name_or_path.find('/') == std::string::npos;
    if (!plain_name || !fs::is_regular_file(path, ignored)) {
        path = name_or_path;
        if (fs::is_directory(path, ignored)) path /= "config.json";
        if (plain_name && !fs::exists(path, ignored)) {
            const std::vector<std::string> shipped = shipped_models(data);
            const std::string near = nearest(name_or_path, shipped);
            return fail("model '" + name_or_path + "'", "no such model" + (near.empty() ? "" : " (did you mean '" + near + "'?)"),
                        "a path to a config.json, or " + one_of(shipped));
        }
        name = path.filename() == "config.json" && path.has_parent_path() ? path.parent_path().filename().string() : path.stem().string();
    }
    HEADROOM_TRY(const std::string text, read_file(path, kMostConfigBytes));
    return parse_model(text, path.string(), name);
}

std::vector<std::string> shipped_models(const std::filesystem::path& data) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(data / "models" / "llm", error)) {
        if (std::filesystem::exists(entry.path() / "config.json", error)) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace headroom
