// Starts the desktop app: a program of its own, so that the planner needs no Qt.
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/command.h"
#include "cli/sibling_program.h"

namespace headroom::cli {
namespace {

const SiblingProgram kApp{
    "headroom-gui",
    "gui/app",
    {"app", "dev"},
    "the app beside this program or in PATH; to build it: scripts/headroom view, or the preset "
    "'app' (README)"};

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

Result<int> run(const std::string& file) {
    std::error_code ignored;
    // A file that is not there is told here, app or not, with the scenario that may have been meant.
    if (!file.empty() && !std::filesystem::exists(file, ignored)) {
        ScenarioArguments scenario;
        scenario.path = file;
        HEADROOM_CHECK(scenario.read());
    }
    const std::string app = find_program(kApp);
    if (!can_start(app)) return tl::unexpected(cannot_start(kApp, ENOENT));
    // Qt's own words for this end in an abort.
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") && !is_set("QT_QPA_PLATFORM"))
        return fail(kApp.name, "no screen: neither DISPLAY nor WAYLAND_DISPLAY is set",
                    "a desktop session; without one `headroom plan` and `headroom simulate` say the same in "
                    "text and files",
                    Fault::run_failed);
    std::vector<std::string> words{app};
    if (!file.empty()) words.push_back(file);
    return become(kApp, std::move(words));
}

}  // namespace

Command add_view(CLI::App& root) {
    auto file = std::make_shared<std::string>();
    CLI::App* app = root.add_subcommand("view", "Opens the desktop app");
    app->footer(
        "A scenario, a plan.json, or a timeline, simulated or measured; without a file the app begins with "
        "the shipped\nscenarios. Exit code 2: bad input; 5: there is no app, or no screen.\n\n"
        "Examples:\n  headroom view qwen2.5-7b-1m-h200\n  headroom view measured.trace.json.gz");
    app->add_option("file", *file, "What to open: a file, or the name of a shipped scenario")
        ->type_name("FILE");
    return {app, [file] { return run(*file); }};
}

}  // namespace headroom::cli
