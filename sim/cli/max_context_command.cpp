#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/report.h"

namespace headroom::cli {
namespace {

struct Options {
    ScenarioArguments scenario;
    bool json = false, quiet = false;
    std::string output;
};

Result<int> run(const Options& o) {
    HEADROOM_CHECK(check_output(o.output, {o.scenario.path}));
    HEADROOM_TRY(const Scenario scenario, o.scenario.read());
    Result<MaxContext> result = [&] {
        ProgressLine progress(o.quiet);
        return max_context(scenario, progress.callback());
    }();
    HEADROOM_TRY(const MaxContext max, with_places(std::move(result), scenario));
    if (!o.output.empty()) HEADROOM_CHECK(write_file(o.output, write_plan(max.at.plan)));
    fmt::print("{}", o.json ? report_json(max).dump(2) + "\n" : report_text(max));
    return 0;
}

}  // namespace

std::string report_text(const MaxContext& max) {
    std::string text = fmt::format("largest context that fits: {} ({} tokens)\n", format_tokens(max.context),
                                   format_integer(max.context.count()));
    text += fmt::format("stopped by: {}", max.limit);
    if (max.next_excess_bytes > 0) {
        text += fmt::format(" ({} tokens would need {} more)", format_integer(max.next.count()),
                            format_bytes(Bytes(max.next_excess_bytes)));
    }
    return text + "\n\n" + report_text(max.at);
}

nlohmann::ordered_json report_json(const MaxContext& max) {
    return {{"schema_version", 1},
            {"context_tokens", max.context.count()},
            {"limit", max.limit},
            {"next_context_tokens", max.next.count()},
            {"next_excess_bytes", max.next_excess_bytes},
            {"answer", report_json(max.at)}};
}

Command add_max_context(CLI::App& root) {
    auto options = std::make_shared<Options>();
    CLI::App* app =
        root.add_subcommand("max-context", "The largest context that fits, and the limit that stops it");
    app->footer(
        "The scenario's own context is not read; everything else stands. Searched to the page, each end "
        "simulated.\n\n"
        "Example:\n  headroom max-context qwen2.5-7b-1m-h200 --set budget.host=64GiB");
    options->scenario.add_to(*app);
    app->add_flag("--json", options->json, "The answer as JSON (units in the keys)");
    app->add_option("-o,--output", options->output, "Write the plan at that context to this file")
        ->check(named())
        ->type_name("FILE");
    app->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
    return {app, [options] { return run(*options); }};
}

}  // namespace headroom::cli
