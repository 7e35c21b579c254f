#include <cstdlib>
#include <system_error>

#include "base/file.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

bool holds_models(const fs::path& folder) {
    std::error_code ignored;
    return fs::is_directory(folder / "models" / "llm", ignored) &&
           fs::is_directory(folder / "models" / "hardware", ignored);
}

}  // namespace

Result<fs::path> data_folder() {
    constexpr const char* kAllowed = "a folder that holds models/llm and models/hardware";
    if (const char* named = std::getenv("HEADROOM_DATA"); named != nullptr && *named != '\0') {
        if (holds_models(named)) return fs::path(named);
        return fail("$HEADROOM_DATA", "'" + std::string(named) + "' does not hold them", kAllowed);
    }
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (error)
        return fail("/proc/self/exe", "cannot be read: " + error.message(),
                    "$HEADROOM_DATA: " + std::string(kAllowed));
    // <tree>/build/release/sim/cli/headroom, or <prefix>/bin/headroom.
    const fs::path start = executable.parent_path();
    for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
        if (holds_models(folder)) return folder;
        if (folder == folder.root_path()) break;
    }
    const fs::path installed = start.parent_path() / "share" / "headroom";
    if (holds_models(installed)) return installed;
    return fail("", "no data beside " + executable.string() + " (nor in " + installed.string() + ")",
                "$HEADROOM_DATA: " + std::string(kAllowed));
}

}  // namespace headroom
