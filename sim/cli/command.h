// Subcommands of `headroom`: one file each, registered in main.cpp.
//
// Contract: add_*() declares options and help on a CLI11 subcommand and sets `run`. run() prints to stdout
// what the user asked for and returns the exit code (result.h); failures are returned as Error and printed by
// main().
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace headroom::cli {

struct Command {
    CLI::App* app = nullptr;
    std::function<Result<int>()> run;
};

Command add_calibrate(CLI::App& root);
Command add_plan(CLI::App& root);
Command add_max_context(CLI::App& root);
Command add_sweep(CLI::App& root);
Command add_simulate(CLI::App& root);
Command add_compare(CLI::App& root);
Command add_excerpt(CLI::App& root);
Command add_run(CLI::App& root);
Command add_fidelity(CLI::App& root);
Command add_view(CLI::App& root);
Command add_completion(CLI::App& root);

// What commands on a scenario share: the file and --set key=value.
struct ScenarioArguments {
    std::string path;
    std::vector<std::string> overrides;
    void add_to(CLI::App& app);
    // A shipped scenario may be named without folder and ending.
    Result<Scenario> read() const;
};

// The result of a question about `scenario`; its Error says in which lines of the file the keys stand.
template <class T>
Result<T> with_places(Result<T> result, const Scenario& scenario) {
    if (!result) result.error() = headroom::with_places(std::move(result.error()), scenario);
    return result;
}

}  // namespace headroom::cli
