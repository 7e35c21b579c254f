#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/report.h"

namespace headroom::cli {
namespace {

struct Options {
    std::string predicted, measured, tolerance = "5%";
    bool json = false;
};

std::string quantity(const Difference& d, int64_t v) {
    return d.unit == "bytes" ? format_bytes(Bytes(v)) : format_time(Nanoseconds(v));
}

Result<int> run(const Options& o) {
    HEADROOM_TRY(const double tolerance, parse_share(o.tolerance, "--tolerance"));
    HEADROOM_TRY(const Timeline predicted, read_timeline(o.predicted));
    HEADROOM_TRY(const Timeline measured, read_timeline(o.measured));
    HEADROOM_TRY(const Comparison c, compare(predicted, measured));
    fmt::print("{}", o.json ? comparison_json(c, tolerance).dump(2) + "\n" : comparison_text(c, tolerance));
    return c.worst > tolerance ? exit_code(Fault::outside_tolerance) : 0;
}

}  // namespace

std::string comparison_text(const Comparison& c, double tolerance) {
    std::string text;
    if (!c.same_plan) text += "note: the two timelines are of different plans\n";
    if (!c.excerpt.empty())
        text += fmt::format("note: an excerpt, {}; memory is of the whole step\n", c.excerpt);
    if (c.unmatched_ops > 0)
        text += fmt::format("note: {} operations have no counterpart\n", format_integer(c.unmatched_ops));
    std::string group;
    for (const Difference& d : c.differences) {
        if (d.predicted == 0 && d.measured == 0) continue;
        if (d.group != group) {
            text += fmt::format("{}{:<34}{:>16}{:>16}{:>10}\n", group.empty() ? "" : "\n", d.group,
                                "predicted", "measured", "error");
            group = d.group;
        }
        const bool outside = d.judged && std::abs(d.error) > tolerance;
        const std::string error = std::isinf(d.error) ? "new" : fmt::format("{:+.2f} %", 100 * d.error);
        text += fmt::format("  {:<32}{:>16}{:>16}{:>10}{}\n", d.what, quantity(d, d.predicted),
                            quantity(d, d.measured), error,
                            outside    ? "  <- outside"
                            : d.judged ? ""
                                       : "  (too small to judge)");
    }
    text += fmt::format("\nworst error {:.2f} %, tolerance {:.2f} %: {}\n", 100 * c.worst, 100 * tolerance,
                        c.worst > tolerance ? "OUTSIDE" : "within");
    return text;
}

nlohmann::ordered_json comparison_json(const Comparison& c, double tolerance) {
    nlohmann::ordered_json j = {
        {"schema_version", 1},    {"same_plan", c.same_plan}, {"unmatched_ops", c.unmatched_ops},
        {"worst_error", c.worst}, {"tolerance", tolerance},   {"within", c.worst <= tolerance}};
    if (!c.excerpt.empty()) j["excerpt"] = c.excerpt;
    j["differences"] = nlohmann::ordered_json::array();
    for (const Difference& d : c.differences) {
        nlohmann::ordered_json row = {{"group", d.group},       {"what", d.what},
                                      {"unit", d.unit},         {"predicted", d.predicted},
                                      {"measured", d.measured}, {"judged", d.judged}};
        row["error"] =
            std::isfinite(d.error) ? nlohmann::ordered_json(d.error) : nlohmann::ordered_json(nullptr);
        j["differences"].push_back(std::move(row));
    }
    return j;
}

Command add_compare(CLI::App& root) {
    auto options = std::make_shared<Options>();
    CLI::App* app = root.add_subcommand(
        "compare", "Two timelines laid side by side: by tier, category, stream and kind of operation");
    app->footer(
        "Exit code 0: every judged error is within the tolerance; 4: one is outside; 2: bad input.\n"
        "What is under 0.5 % of its group is shown and not judged.\n\n"
        "Example:\n  headroom compare predicted.trace.json.gz measured.trace.json.gz --tolerance 3%");
    app->add_option("predicted", options->predicted, "The timeline of `headroom simulate`")
        ->required()
        ->type_name("PREDICTED");
    app->add_option("measured", options->measured, "The timeline of a run (or another simulation)")
        ->required()
        ->type_name("MEASURED");
    app->add_option("--tolerance", options->tolerance, "Largest error allowed: 5% or 0.05")
        ->capture_default_str()
        ->type_name("SHARE");
    app->add_flag("--json", options->json, "The comparison as JSON");
    return {app, [options] { return run(*options); }};
}

}  // namespace headroom::cli
