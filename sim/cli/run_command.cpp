// Starts the engine, which runs a plan for real: a program of its own, so that the planner needs neither CUDA
// nor libtorch.
#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "cli/command.h"
#include "cli/engine_process.h"
#include "cli/report_run.h"
#include "cli/run_options.h"

namespace headroom::cli {
namespace {

Result<int> run(const CLI::App& app, const RunOptions& o) {
    HEADROOM_TRY(const Plan plan, read_plan(o.plan));  // a bad file is told here, engine or not
    HEADROOM_CHECK(check_plan(plan, o.plan));
    std::vector<std::string> words = words_of(app);
    words.insert(words.begin(), {engine_path(), "run"});
    if (o.json) return become(engine_program(), std::move(words));
    RunReport report;
    return run_engine(std::move(words), [&](const std::string& line) {
        if (const std::optional<std::string> text = report.take(line)) {
            fmt::print("{}\n", *text);
            std::fflush(stdout);
        }
    });
}

}  // namespace

Command add_run(CLI::App& root) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* app =
        root.add_subcommand("run", "Runs a plan on a GPU (or the CPU) and writes the measured timeline");
    app->footer(
        "The timeline has the same operations as the simulated one: `headroom compare` lays them side by "
        "side.\n\n"
        "Example:\n  headroom run plan.json --device cuda --steps 3 -o measured.trace.json.gz");
    add_run_options(*app, *options);
    return {app, [app, options] { return run(*app, *options); }};
}

}  // namespace headroom::cli
