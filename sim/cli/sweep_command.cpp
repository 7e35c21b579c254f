#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "strategy/strategy.h"

namespace headroom::cli {
namespace {

struct Options {
    ScenarioArguments scenario;
    std::string contexts, strategies = "all", csv, plot;
    bool json = false, quiet = false;
};

// "64Ki:4Mi" doubles from the first to the last; "64Ki,100K,1Mi" are those.
Result<std::vector<Tokens>> parse_contexts(const std::string& text) {
    std::vector<Tokens> contexts;
    const std::string where = "--context";
    const auto positive = [&](const std::string& part) -> Result<Tokens> {
        HEADROOM_TRY(const Tokens t, parse_tokens(part, where));
        if (t.count() < 1 || t.count() > kMaxContext) {
            return fail(where, "'" + part + "'", "1 to " + format_integer(kMaxContext) + " tokens");
        }
        return t;
    };
    if (const size_t colon = text.find(':'); colon != std::string::npos) {
        HEADROOM_TRY(const Tokens first, positive(text.substr(0, colon)));
        HEADROOM_TRY(const Tokens last, positive(text.substr(colon + 1)));
        if (last < first)
            return fail(where, "'" + text + "' ends before it begins", "first:last, such as 64Ki:4Mi");
        for (Tokens t = first; t <= last; t = t * 2) contexts.push_back(t);
        if (contexts.back() != last) contexts.push_back(last);
        return contexts;
    }
    std::stringstream list(text);
    for (std::string part; std::getline(list, part, ',');) {
        HEADROOM_TRY(const Tokens t, positive(part));
        contexts.push_back(t);
    }
    if (contexts.empty()) return fail(where, "''", "a range such as 64Ki:4Mi, or a list such as 64Ki,1Mi");
    return contexts;
}

Result<std::vector<std::string>> parse_strategies(const std::string& text) {
    std::vector<std::string> names;
    if (text == "all") return names;
    std::stringstream list(text);
    for (std::string part; std::getline(list, part, ',');) {
        HEADROOM_CHECK(require_strategy(part, "--strategies"));
        names.push_back(part);
    }
    if (names.empty()) return fail("--strategies", "''", "'all', or names with commas between them");
    return names;
}

Result<int> run(const Options& o) {
    HEADROOM_CHECK(check_output(o.csv, {o.scenario.path}));
    HEADROOM_CHECK(check_output(o.plot, {o.scenario.path}));
    if (!o.csv.empty() && o.csv == o.plot) return fail("--plot", "the file of --csv", "another file");
    HEADROOM_TRY(const Scenario scenario, o.scenario.read());
    HEADROOM_TRY(const std::vector<Tokens> contexts, parse_contexts(o.contexts));
    HEADROOM_TRY(const std::vector<std::string> names, parse_strategies(o.strategies));
    Result<std::vector<SweepPoint>> result = [&] {
        ProgressLine progress(o.quiet);
        return sweep(scenario, contexts, names, progress.callback());
    }();
    HEADROOM_TRY(const std::vector<SweepPoint> points, with_places(std::move(result), scenario));
    if (!o.csv.empty()) HEADROOM_CHECK(write_file(o.csv, sweep_csv(points)));
    if (!o.plot.empty()) {
        const Plan& p = scenario.plan;
        HEADROOM_CHECK(write_file(o.plot, sweep_svg(points, p.model.name + " on " + p.hardware.title)));
    }
    fmt::print("{}", o.json ? sweep_json(points).dump(2) + "\n" : sweep_text(points));
    return 0;
}

}  // namespace

std::string sweep_text(const std::vector<SweepPoint>& points) {
    std::string text =
        fmt::format("{:<16}{:>10}{:>14}{:>14}{:>12}{:>14}{:>10}{:>8}  {}\n", "strategy", "context",
                    "device GiB", "host GiB", "disk GiB", "step", "tokens/s", "MFU", "verdict");
    std::string last;
    const auto gib = [](int64_t b) {
        return fmt::format("{:.2f}", static_cast<double>(b) / static_cast<double>(kGiB));
    };
    for (const SweepPoint& p : points) {
        if (!last.empty() && last != p.strategy) text += "\n";
        last = p.strategy;
        if (!p.runs) {
            // The first reason of the strategy, without the file's name before it.
            const size_t at = p.why_not.find("can run this: ");
            std::string why = at == std::string::npos ? p.why_not : p.why_not.substr(at + 14);
            why = why.substr(0, why.find("; "));
            text += fmt::format("{:<16}{:>10}  cannot run: {}\n", p.strategy, format_tokens(p.context), why);
            continue;
        }
        text += fmt::format("{:<16}{:>10}{:>14}{:>14}{:>12}{:>14}{:>10}{:>6.1f} %  {}\n", p.strategy,
                            format_tokens(p.context), gib(p.need_bytes[0]), gib(p.need_bytes[1]),
                            gib(p.need_bytes[2]), format_time(Nanoseconds(p.step_ns)),
                            format_integer(std::llround(p.tokens_per_second)), 100 * p.mfu,
                            p.fits ? "fits" : "does not fit");
    }
    return text;
}

std::string sweep_csv(const std::vector<SweepPoint>& points) {
    std::string text =
        "strategy,context_tokens,runs,fits,device_bytes,host_bytes,disk_bytes,device_budget_bytes,host_"
        "budget_bytes,disk_budget_bytes,"
        "step_ns,tokens_per_second,mfu,chunk_tokens,why_not\n";
    for (const SweepPoint& p : points) {
        std::string why = p.why_not;
        for (char& c : why) {
            if (c == '"') c = '\'';
            if (c == '\n') c = ' ';
        }
        text +=
            fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.3f},{:.5f},{},\"{}\"\n", p.strategy,
                        p.context.count(), p.runs, p.fits, p.need_bytes[0], p.need_bytes[1], p.need_bytes[2],
                        p.budget_bytes[0], p.budget_bytes[1], p.budget_bytes[2], p.step_ns,
                        p.tokens_per_second, p.mfu, p.runs ? p.plan.decisions.chunk.count() : 0, why);
    }
    return text;
}

nlohmann::ordered_json sweep_json(const std::vector<SweepPoint>& points) {
    nlohmann::ordered_json j = {{"schema_version", 1}, {"points", nlohmann::ordered_json::array()}};
    for (const SweepPoint& p : points) {
        nlohmann::ordered_json row = {
            {"strategy", p.strategy}, {"context_tokens", p.context.count()}, {"runs", p.runs}};
        if (!p.runs) {
            row["why_not"] = p.why_not;
        } else {
            row["fits"] = p.fits;
            row["need_bytes"] = {
                {"device", p.need_bytes[0]}, {"host", p.need_bytes[1]}, {"disk", p.need_bytes[2]}};
            row["budget_bytes"] = {
                {"device", p.budget_bytes[0]}, {"host", p.budget_bytes[1]}, {"disk", p.budget_bytes[2]}};
            row["step_ns"] = p.step_ns;
            row["tokens_per_second"] = p.tokens_per_second;
            row["mfu"] = p.mfu;
            row["plan"] = nlohmann::ordered_json::parse(write_plan(p.plan))["decisions"];
        }
        j["points"].push_back(std::move(row));
    }
    return j;
}

Command add_sweep(CLI::App& root) {
    auto options = std::make_shared<Options>();
    CLI::App* app =
        root.add_subcommand("sweep", "Memory and step time by context and strategy: a table, CSV, a plot");
    app->footer(
        "At each context the best plan of each strategy; one line a point.\n\n"
        "Example:\n  headroom sweep qwen2.5-7b-1m-h200 --context 64Ki:4Mi --strategies all --csv sweep.csv "
        "--plot sweep.svg");
    options->scenario.add_to(*app);
    app->add_option("--context", options->contexts,
                    "first:last (doubling) or a list: 64Ki:4Mi, or 64Ki,100K,1Mi")
        ->required()
        ->type_name("TOKENS");
    app->add_option("--strategies", options->strategies, "'all', or some: chunked,layer-major")
        ->capture_default_str()
        ->type_name("NAMES");
    app->add_option("--csv", options->csv, "Write the points as CSV")->check(named())->type_name("FILE");
    app->add_option("--plot", options->plot, "Write a plot of memory and time against context as SVG")
        ->check(named())
        ->type_name("FILE");
    app->add_flag("--json", options->json, "The points as JSON (units in the keys)");
    app->add_flag("-q,--quiet", options->quiet, "No progress on stderr");
    return {app, [options] { return run(*options); }};
}

}  // namespace headroom::cli
