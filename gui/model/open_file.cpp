#include "gui/model/open_file.h"

#include <string_view>
#include <system_error>

#include "base/file.h"
#include "cli/command.h"

namespace headroom::gui {
namespace {

constexpr size_t kLook_bytes = 4096;

// The first bytes of a file; empty where it cannot be read (its reader will say why).
std::string beginning(const std::filesystem::path& path) {
    std::string text(kLook_bytes, '\0');
    FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return {};
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

// Empty: there is none.
std::filesystem::path recorded_beside(const std::filesystem::path& timeline) {
    std::filesystem::path file = selection_beside(timeline);
    std::error_code ignored;
    for (int i = 0; i < 2; ++i, file += ".gz") {
        if (std::filesystem::is_regular_file(file, ignored)) return file;
    }
    return {};
}

}  // namespace

std::filesystem::path selection_beside(const std::filesystem::path& timeline) {
    std::string name = timeline.filename().string();
    for (const std::string_view ending : {".gz", ".json", ".trace"}) {
        if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    }
    return timeline.parent_path() / (name + ".selection.json");
}

Result<Opened> open_file(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
    std::error_code ignored;
    const std::string text = std::filesystem::is_directory(path, ignored) ? "" : beginning(path);
    const bool gzipped = text.starts_with("\x1f\x8b");
    const size_t first = text.find_first_not_of(" \t\r\n");
    const bool json = first != text.npos && text[first] == '{';
    if (gzipped ||
        (json && (text.find("\"traceEvents\"") != text.npos || text.find("\"otherData\"") != text.npos)) ||
        path.string().ends_with(".trace.json")) {
        HEADROOM_TRY(Timeline timeline, read_timeline(path));
        const QString name = QString::fromStdString(path.filename().string());
        if (const std::filesystem::path selection = recorded_beside(path);
            timeline.source == "measured" && !selection.empty())
            return Opened{{}, {}, make_step(name, std::move(timeline), selection)};
        return Opened{{}, {}, make_step(name, std::move(timeline))};
    }
    if (json) {
        HEADROOM_TRY(Plan plan, read_plan(path));
        HEADROOM_CHECK(check_plan(plan, path.string()));
        return Opened{{}, std::make_shared<const Plan>(std::move(plan)), {}};
    }
    cli::ScenarioArguments arguments;
    arguments.path = path.string();
    arguments.overrides = overrides;
    HEADROOM_TRY(Scenario scenario, arguments.read());
    return Opened{std::make_shared<const Scenario>(std::move(scenario)), {}, {}};
}

}  // namespace headroom::gui
