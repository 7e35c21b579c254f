// Predicts a list of plans, runs them, and writes how far off the predictions were.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/engine_process.h"
#include "cli/fidelity_runs.h"
#include "fidelity/report.h"

namespace headroom::cli {
namespace {

// Of the source tree that this program belongs to; empty where there is none, or no git.
std::string commit_of(const std::filesystem::path& data) {
    std::string commit;
    std::error_code ignored;
    if (!std::filesystem::exists(data / ".git", ignored)) return commit;
    const std::string line = "git -C '" + data.string() + "' rev-parse --short HEAD 2>/dev/null";
    if (FILE* pipe = popen(line.c_str(), "r"); pipe != nullptr) {
        std::array<char, 64> text{};
        if (std::fgets(text.data(), text.size(), pipe) != nullptr) commit = text.data();
        pclose(pipe);
    }
    while (!commit.empty() && commit.back() == '\n') commit.pop_back();
    return commit;
}

std::filesystem::path suite_path(const std::string& name, const std::filesystem::path& data) {
    std::error_code ignored;
    const std::filesystem::path shipped = data / "scenarios" / "fidelity" / (name + ".toml");
    if (name.find('/') == name.npos && !std::filesystem::exists(name, ignored) &&
        std::filesystem::is_regular_file(shipped, ignored))
        return shipped;
    return name;
}

std::string predictions_text(const fidelity::Results& results) {
    std::string text = fmt::format("{:<44}{:<8}{:>12}{:>7}{:>14}{:>14}  \n", "plan", "half", "step", "steps",
                                   "device", "host");
    const auto line = [&](const fidelity::Entry& e) {
        if (!e.prediction) return;
        const fidelity::Prediction& p = *e.prediction;
        text += fmt::format("{:<44}{:<8}{:>12}{:>7}{:>14}{:>14}  {}\n", e.plan.name,
                            fidelity::name_of(e.plan.half), format_time(Nanoseconds(p.figures.step_ns)),
                            e.plan.steps, format_bytes(Bytes(p.need_bytes[0])),
                            format_bytes(Bytes(p.need_bytes[1])), p.fits() ? "" : "does not fit");
    };
    for (const fidelity::Entry& e : results.entries) line(e);
    for (const fidelity::LadderResult& l : results.ladders) {
        text +=
            fmt::format("ladder {}: fits up to {} tokens\n", l.ladder.name, format_integer(l.limit.count()));
        for (const fidelity::Entry& e : l.rungs) line(e);
    }
    return text;
}

std::string verdicts_text(const fidelity::Results& results) {
    std::string text;
    for (const fidelity::Verdict& v : verdicts(results)) {
        text += fmt::format("{:<66}{:>18}{:>10}  {:<8}{}\n", v.what, v.found, v.bound,
                            v.within ? (*v.within ? "within" : "OUTSIDE") : "", v.where);
    }
    return text;
}

Result<int> run(FidelityOptions o) {
    HEADROOM_TRY(const std::filesystem::path data, data_folder());
    HEADROOM_TRY(fidelity::Suite suite, fidelity::read_suite(suite_path(o.suite, data)));
    for (const std::string& name : o.only) {
        bool known = false;
        std::vector<std::string> names;
        for (const fidelity::SuitePlan& p : suite.plans) names.push_back(p.name);
        for (const fidelity::Ladder& l : suite.ladders) names.push_back(l.name);
        for (const std::string& n : names) known |= n == name;
        if (known) continue;
        const std::string near = nearest(name, names);
        return fail(
            "--only " + name,
            "no plan or ladder of the suite" + (near.empty() ? "" : " (did you mean '" + near + "'?)"),
            one_of(names));
    }
    if (o.commit.empty()) o.commit = commit_of(data);
    if (!o.hardware.empty()) {
        if (const Result<Hardware> h = read_hardware(o.hardware, data); !h) {
            Error e = h.error();
            if (e.where == "hardware") e.where = "--hardware";
            return tl::unexpected<Error>(std::move(e));
        }
        fidelity::use_hardware(suite, o.hardware);
    }
    FidelityRuns runs(o, std::move(suite), data);
    if (o.replay) {
        HEADROOM_CHECK(runs.replay());
    } else {
        if (!o.predict_only && !can_start(engine_path()))
            return tl::unexpected(cannot_start(engine_program(), ENOENT));
        HEADROOM_CHECK(runs.predict());
        fmt::print("{}\nto run: about {}\n", predictions_text(runs.results()),
                   format_time(Nanoseconds(static_cast<int64_t>(runs.expected_seconds() * 1e9))));
        std::fflush(stdout);
        if (o.predict_only) return 0;
        HEADROOM_CHECK(runs.run());
    }
    fmt::print("\n{}\nwrote {}\n", verdicts_text(runs.results()),
               (std::filesystem::path(o.folder) / "fidelity.md").string());
    if (runs.any_failed()) return exit_code(Fault::run_failed);
    for (const fidelity::Verdict& v : verdicts(runs.results()))
        if (v.within == false) return exit_code(Fault::outside_tolerance);
    return 0;
}

}  // namespace

Command add_fidelity(CLI::App& root) {
    auto o = std::make_shared<FidelityOptions>();
    CLI::App* app = root.add_subcommand(
        "fidelity",
        "Predicts a list of plans, runs each for real, and writes how far off the predictions were");
    app->footer(
        "Each plan is predicted before it is run, in a process of its own; the table is written after each "
        "run, so "
        "that\nCtrl-C leaves what is done. The folder then holds the table (fidelity.md, fidelity.json), "
        "pictures, and "
        "for each\nplan the plan, its prediction and what is kept of its run.\n"
        "Exit code 0: within the bounds; 4: outside; 5: a run failed; 2: bad input.\n\n"
        "Examples:\n"
        "  headroom fidelity scenarios/fidelity/cpu.toml -o results --device cpu\n"
        "  headroom fidelity h200 -o results --predict           what would be run, and how long it would "
        "take\n"
        "  headroom fidelity h200 -o results --budget-seconds 500 && headroom fidelity h200 -o results "
        "--resume\n"
        "  headroom calibrate -o mine.toml && headroom fidelity h200 -o results --hardware mine.toml\n"
        "  headroom fidelity h200 -o results --replay            the same runs, predicted again as of now");
    app->add_option("suite", o->suite,
                    "The list of plans (scenarios/fidelity/*.toml), or the name of a shipped one")
        ->required()
        ->type_name("SUITE");
    app->add_option("-o,--output", o->folder, "Where predictions, runs and table go")
        ->required()
        ->type_name("FOLDER");
    app->add_option(
           "--hardware", o->hardware,
           "The machine, instead of the one that the suite names: what `headroom calibrate` wrote, or "
           "the name of a shipped one")
        ->type_name("NAME");
    app->add_option("--only", o->only, "Only these plans and ladders; one that has been run is run again")
        ->allow_extra_args(false)
        ->type_name("NAME");
    app->add_option("--device", o->device, "Where: cuda or cpu")->check(CLI::IsMember({"cuda", "cpu"}));
    auto* resume = app->add_flag("--resume", o->resume, "Go on with the plans that the folder has no run of");
    app->add_option("--budget-seconds", o->budget_seconds,
                    "Leave out a plan that is not expected to end within this time from the start")
        ->check(within(0, 1e9))
        ->type_name("SECONDS");
    auto* predict = app->add_flag("--predict", o->predict_only, "Write the predictions, run nothing");
    app->add_flag("--replay", o->replay,
                  "Run nothing: predict the runs in the folder again, from the hardware file as it is now")
        ->excludes(resume)
        ->excludes(predict);
    app->add_option("--run-option", o->run_options,
                    "A word for `headroom run`, such as --run-option=--attention=graph")
        ->allow_extra_args(false)
        ->type_name("WORD");
    app->add_option("--commit", o->commit, "Of this program, to be written down (default: as git tells)")
        ->type_name("TEXT");
    app->add_flag("--keep", o->keep, "Keep the measured timelines");
    return {app, [o, &root] {
                for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; }))
                    o->calibrate_exists |= command->get_name() == "calibrate";
                return run(*o);
            }};
}

}  // namespace headroom::cli
