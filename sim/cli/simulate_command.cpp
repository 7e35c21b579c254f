#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/guarded.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/report.h"

namespace headroom::cli {
namespace {

struct Options {
    std::string plan, output;
    bool json = false, quiet = false;
};

Result<int> run(const Options& o) {
    HEADROOM_CHECK(check_output(o.output, {o.plan}));
    HEADROOM_TRY(const Plan plan, read_plan(o.plan));
    HEADROOM_CHECK(check_plan(plan, o.plan));
    Result<Timeline> predicted = [&] {
        ProgressLine progress(o.quiet);
        SimulateOptions options;
        options.progress = [&](double share) { return progress("simulating", share); };
        return guarded(o.plan, [&] { return predict(plan, options); });
    }();
    HEADROOM_TRY(const Timeline timeline, std::move(predicted));
    HEADROOM_CHECK(write_timeline(timeline, o.output));
    HEADROOM_TRY(const Answer a, answer(plan));
    if (o.json) {
        nlohmann::ordered_json j = report_json(a);
        j["timeline"] = o.output;
        j["plan_hash"] = timeline.plan_hash;
        fmt::print("{}\n", j.dump(2));
    } else {
        fmt::print("{}\n{}: {} operations; open it in https://ui.perfetto.dev\n", report_text(a), o.output,
                   format_integer(static_cast<int64_t>(timeline.ops.size())));
    }
    return a.fits() ? 0 : exit_code(Fault::does_not_fit);
}

}  // namespace

Command add_simulate(CLI::App& root) {
    auto options = std::make_shared<Options>();
    CLI::App* app = root.add_subcommand(
        "simulate", "The timeline of a plan: every operation with its start and end, memory by category");
    app->footer(
        "The file is Chrome trace events, gzipped: Perfetto opens it as it is. The same plan gives the same "
        "bytes.\n\n"
        "Example:\n  headroom plan qwen2.5-7b-1m-h200 -o plan.json && headroom simulate plan.json -o "
        "step.trace.json.gz");
    app->add_option("plan", options->plan, "A plan file, as `headroom plan -o` writes it")
        ->required()
        ->type_name("PLAN");
    app->add_option("-o,--output", options->output, "The timeline, *.trace.json.gz")
        ->required()
        ->check(named())
        ->type_name("FILE");
    app->add_flag("--json", options->json, "The answer as JSON (units in the keys)");
    app->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
    return {app, [options] { return run(*options); }};
}

}  // namespace headroom::cli
