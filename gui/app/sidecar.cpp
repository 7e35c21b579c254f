#include "gui/app/sidecar.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/json.h"

namespace headroom::gui {
namespace {

constexpr int64_t kVersion = 1;
constexpr int64_t kLimit_bytes = 1 << 20;

Result<std::optional<TimeRange>> range_at(ConfigTable& root, const char* key) {
    HEADROOM_TRY(const std::optional<std::vector<int64_t>> ends, root.get<std::vector<int64_t>>(key));
    if (!ends) return std::optional<TimeRange>();
    if (ends->size() != 2 || (*ends)[0] < 0 || (*ends)[1] <= (*ends)[0])
        return fail(root.place(key), "no range", "two instants in nanoseconds, the second after the first");
    return std::optional<TimeRange>(TimeRange{(*ends)[0], (*ends)[1]});
}

}  // namespace

std::filesystem::path sidecar_path(const std::filesystem::path& file) {
    std::filesystem::path path = file;
    path += ".headroom-view";
    return path;
}

std::string format_sidecar(const Sidecar& s) {
    nlohmann::ordered_json j;
    j["schema_version"] = kVersion;
    j["view"] = s.view.toStdString();
    j["knobs"] = nlohmann::ordered_json::object();
    for (const auto& [key, value] : s.knobs) j["knobs"][key.toStdString()] = value.toStdString();
    if (s.range) j["range_ns"] = {s.range->begin_ns, s.range->end_ns};
    if (s.marked) j["marked_ns"] = {s.marked->begin_ns, s.marked->end_ns};
    if (s.selected != kNone) j["selected_op"] = s.selected;
    return j.dump(2) + "\n";
}

Result<Sidecar> parse_sidecar(const std::string& text, const std::string& where) {
    HEADROOM_TRY(ConfigTable root, parse_json(text, where));
    HEADROOM_TRY(const int64_t version, root.need<int64_t>("schema_version"));
    if (version != kVersion)
        return fail(root.place("schema_version"), std::to_string(version), std::to_string(kVersion));
    Sidecar s;
    HEADROOM_TRY(const std::string view, root.get_or("view", std::string()));
    s.view = QString::fromStdString(view);
    HEADROOM_TRY(std::optional<ConfigTable> knobs, root.get<ConfigTable>("knobs"));
    if (knobs) {
        for (const std::string& key : knobs->keys()) {
            HEADROOM_TRY(const std::string value, knobs->need<std::string>(key));
            s.knobs[QString::fromStdString(key)] = QString::fromStdString(value);
        }
    }
    HEADROOM_TRY(s.range, range_at(root, "range_ns"));
    HEADROOM_TRY(s.marked, range_at(root, "marked_ns"));
    HEADROOM_TRY(const int64_t selected, root.get_or("selected_op", int64_t{kNone}));
    if (selected < 0 || selected > int64_t{kNone})
        return fail(root.place("selected_op"), "no op", "the id of an op");
    s.selected = static_cast<OpId>(selected);
    HEADROOM_CHECK(root.finish());
    return s;
}

Result<Sidecar> read_sidecar(const std::filesystem::path& file) {
    const std::filesystem::path path = sidecar_path(file);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return Sidecar{};
    HEADROOM_TRY(const std::string text, read_file(path, kLimit_bytes));
    return parse_sidecar(text, path.string());
}

Result<void> write_sidecar(const std::filesystem::path& file, const Sidecar& sidecar) {
    return write_file(sidecar_path(file), format_sidecar(sidecar));
}

}  // namespace headroom::gui
