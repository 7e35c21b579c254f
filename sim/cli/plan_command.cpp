#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/report.h"

namespace headroom::cli {
namespace {

struct Options {
    ScenarioArguments scenario;
    bool json = false, no_gains = false, no_remedies = false, quiet = false;
    std::string output;
};

Result<int> run(const Options& o) {
    HEADROOM_CHECK(check_output(o.output, {o.scenario.path}));
    HEADROOM_TRY(const Scenario scenario, o.scenario.read());
    AnswerOptions options;
    options.gains = !o.no_gains;
    options.remedies = !o.no_remedies;
    Result<Answer> result = [&] {
        ProgressLine progress(o.quiet);
        options.progress = progress.callback();
        return answer(scenario, options);
    }();
    HEADROOM_TRY(const Answer a, with_places(std::move(result), scenario));
    if (!o.output.empty()) HEADROOM_CHECK(write_file(o.output, write_plan(a.plan)));
    fmt::print("{}", o.json ? report_json(a).dump(2) + "\n" : report_text(a));
    return a.fits() ? 0 : exit_code(Fault::does_not_fit);
}

}  // namespace

Command add_plan(CLI::App& root) {
    auto options = std::make_shared<Options>();
    CLI::App* app = root.add_subcommand(
        "plan", "Does it fit? Searches the best plan of a scenario and says what it costs and why");
    app->footer(
        "Prints the verdict, what each tier needs at its worst instant, the step time and what bounds it, "
        "the plan,\n"
        "and what more of each budget would buy; where nothing fits, the single changes that would help.\n"
        "Exit code 0: fits; 3: does not; 2: bad input.\n\n"
        "Examples:\n"
        "  headroom plan scenarios/qwen2.5-7b-1m-h200.toml\n"
        "  headroom plan qwen2.5-7b-1m-h200 --set context=2Mi --set budget.host=200GiB\n"
        "  headroom plan qwen2.5-7b-1m-h200 -o plan.json && headroom simulate plan.json -o "
        "step.trace.json.gz");
    options->scenario.add_to(*app);
    app->add_flag("--json", options->json, "The answer as JSON (units in the keys)");
    app->add_option("-o,--output", options->output,
                    "Write the plan to this file (plan.json, for simulate and run)")
        ->check(named())
        ->type_name("FILE");
    app->add_flag("--no-gains", options->no_gains, "Leave out what more of each budget would buy");
    app->add_flag("--no-remedies", options->no_remedies,
                  "Where it does not fit: do not look for changes that help");
    app->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
    return {app, [options] { return run(*options); }};
}

}  // namespace headroom::cli
