// headroom: tells whether a training context fits a GPU, what a step costs, and why.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/text.h"
#include "cli/command.h"

namespace {

using headroom::cli::Command;

// A word that is no subcommand gets the nearest one, in our own form of errors.
int unknown_subcommand(const std::vector<Command>& commands, const std::string& word) {
    std::vector<std::string> names;
    for (const Command& c : commands) names.push_back(c.app->get_name());
    const std::string near = headroom::nearest(word, names);
    fmt::print(stderr, "headroom: '{}' is no command{}; allowed: {}\n", word, near.empty() ? "" : " (did you mean '" + near + "'?)",
               headroom::one_of(names));
    return 2;
}

int run(int argc, char** argv) {
    CLI::App root{"Headroom: does this training context fit this GPU, what does a step cost, and why"};
    root.name("headroom");
    root.set_version_flag("--version", std::string("headroom ") + HEADROOM_VERSION);
    root.require_subcommand(0, 1);
    root.footer(
        "Start here:\n"
        "  headroom plan qwen2.5-7b-1m-h200          a shipped scenario: verdict, memory, time, reasons\n"
        "  headroom max-context qwen2.5-7b-1m-h200   how far it goes\n"
        "  headroom COMMAND --help                   what a command does, with examples\n\n"
        "Exit codes: 0 done, fits, within tolerance; 2 bad input; 3 does not fit; 4 outside tolerance; 5 a run failed;\n"
        "130 interrupted.");
    const std::vector<Command> commands{headroom::cli::add_plan(root),     headroom::cli::add_max_context(root),
                                        headroom::cli::add_sweep(root),    headroom::cli::add_simulate(root),
                                        headroom::cli::add_compare(root),  headroom::cli::add_completion(root)};
    if (argc > 1 && argv[1][0] != '-') {
        const std::string word = argv[1];
        bool known = false;
        for (const Command& c : commands) known |= c.app->get_name() == word;
        if (!known) return unknown_subcommand(commands, word);
    }
    try {
        root.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return root.exit(e);
        fmt::print(stderr, "headroom: {}\nSee headroom {} --help\n", e.what(), argc > 1 ? argv[1] : "");
        return 2;
    }
    for (const Command& c : commands) {
        if (!c.app->parsed()) continue;
        headroom::handle_interrupts();
        const headroom::Result<int> code = c.run();
        if (code) return *code;
        fmt::print(stderr, "headroom: {}\n", code.error().text());
        return headroom::exit_code(code.error().fault);
    }
    fmt::print("{}", root.help());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& e) {  // out of memory, a full disk under stdout: nothing of ours throws
        std::fprintf(stderr, "headroom: %s\n", e.what());
        return 5;
    }
}
