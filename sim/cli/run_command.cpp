// Starts the engine, which runs a plan for real: a program of its own, so that the planner needs neither CUDA
// nor libtorch.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/command.h"
#include "cli/run_options.h"

namespace headroom::cli {
namespace {

constexpr const char* kEngine = "headroom-engine";

// Beside this program, in the engine's build beside this one, else wherever PATH has it.
std::string engine_path() {
    std::error_code ignored;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
    for (const std::filesystem::path& candidate :
         {self.parent_path() / kEngine, self.parent_path() / "../../../engine/engine" / kEngine}) {
        if (std::filesystem::exists(candidate, ignored)) return candidate.string();
    }
    return kEngine;
}

Result<int> run(const CLI::App& app, const RunOptions& o) {
    HEADROOM_TRY(const Plan plan, read_plan(o.plan));  // a bad file is told here, engine or not
    HEADROOM_CHECK(check_plan(plan, o.plan));
    std::vector<std::string> words = words_of(app);
    words.insert(words.begin(), {engine_path(), "run"});
    std::vector<char*> arguments;
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());  // returns only where there is no such program
    return fail(kEngine, std::strerror(errno),
                "an engine beside this program or in PATH; to build it: scripts/deps engine, then the preset "
                "'engine' "
                "(README)",
                Fault::run_failed);
}

}  // namespace

Command add_run(CLI::App& root) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* app =
        root.add_subcommand("run", "Runs a plan on a GPU (or the CPU) and writes the measured timeline");
    app->footer(
        "Progress and results are JSON lines on stdout. The timeline has the same operations as the "
        "simulated one:\n"
        "`headroom compare` lays them side by side.\n\n"
        "Example:\n  headroom run plan.json --device cuda --steps 3 -o measured.trace.json.gz");
    add_run_options(*app, *options);
    return {app, [app, options] { return run(*app, *options); }};
}

}  // namespace headroom::cli
