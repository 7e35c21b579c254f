// A part of a long timeline, small enough to keep beside the code.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "timeline/excerpt.h"

namespace headroom::cli {
namespace {

struct Options {
    std::string timeline, output;
    std::vector<uint32_t> chunks;
    int64_t instants = 4096;
};

Result<int> run(Options o) {
    std::sort(o.chunks.begin(), o.chunks.end());
    o.chunks.erase(std::unique(o.chunks.begin(), o.chunks.end()), o.chunks.end());
    HEADROOM_CHECK(check_output(o.output, {o.timeline}));
    HEADROOM_TRY(const Timeline whole, read_timeline(o.timeline));
    HEADROOM_TRY(const Timeline part, excerpt(whole, {o.chunks, o.instants}, o.timeline));
    HEADROOM_CHECK(write_timeline(part, o.output));
    fmt::print("{}: {}; {} memory samples of {}\n", o.output, part.excerpt,
               format_integer(static_cast<int64_t>(part.memory.size())),
               format_integer(static_cast<int64_t>(whole.memory.size())));
    return 0;
}

}  // namespace

Command add_excerpt(CLI::App& root) {
    auto options = std::make_shared<Options>();
    CLI::App* app = root.add_subcommand(
        "excerpt",
        "A part of a long timeline: the operations of some chunks, memory curves of the whole step");
    app->footer(
        "Memory curves keep their peaks and fewer samples; traffic, results and plan stay whole. The app "
        "and\n"
        "`headroom compare` take an excerpt like any timeline; what it is compared with is cut like it.\n\n"
        "Example:\n  headroom excerpt step.trace.json.gz --chunks 0,511,1023 -o small.trace.json.gz");
    app->add_option("timeline", options->timeline, "A timeline, simulated or measured")
        ->required()
        ->type_name("TIMELINE");
    app->add_option("--chunks", options->chunks, "Whose operations are kept: numbers, by commas")
        ->required()
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Validator(
            [](const std::string& text) {
                uint32_t chunk = 0;
                return CLI::detail::lexical_cast(text, chunk) && text[0] != '-'
                           ? std::string()
                           : "'" + text + "'; allowed: numbers of chunks, 0 upwards, by commas";
            },
            ""))
        ->type_name("CHUNKS");
    app->add_option(
           "--instants", options->instants,
           "Instants of the memory curves, about (default 4096): of each part of the step the fullest")
        ->check(CLI::Range(1, 100'000'000));
    app->add_option("-o,--output", options->output, "The excerpt, *.trace.json.gz")
        ->required()
        ->check(named())
        ->type_name("FILE");
    return {app, [options] { return run(*options); }};
}

}  // namespace headroom::cli
