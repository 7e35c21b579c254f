// headroom: tells whether a training context fits a GPU, what a step costs, and why.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
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
    fmt::print(stderr, "headroom: '{}' is no command{}; allowed: {}\n", word,
               near.empty() ? "" : " (did you mean '" + near + "'?)", headroom::one_of(names));
    return 2;
}

// What a user typed may hold line ends and other controls; an error is one line.
std::string on_one_line(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    return text;
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
        "  headroom view qwen2.5-7b-1m-h200          the same in the desktop app, with the step as a "
        "picture\n"
        "  headroom COMMAND --help                   what a command does, with examples\n\n"
        "Exit codes: 0 done, fits, within tolerance; 2 bad input; 3 does not fit; 4 outside tolerance; 5 a "
        "run failed;\n"
        "130 interrupted.");
    const std::vector<Command> commands{
        headroom::cli::add_plan(root),      headroom::cli::add_max_context(root),
        headroom::cli::add_sweep(root),     headroom::cli::add_simulate(root),
        headroom::cli::add_run(root),       headroom::cli::add_compare(root),
        headroom::cli::add_calibrate(root), headroom::cli::add_fidelity(root),
        headroom::cli::add_excerpt(root),   headroom::cli::add_view(root),
        headroom::cli::add_completion(root)};
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
        fmt::print(stderr, "headroom: {} (see headroom {}--help)\n", e.what(),
                   argc > 1 && argv[1][0] != '-' ? std::string(argv[1]) + " " : "");
        return 2;
    }
    for (const Command& c : commands) {
        if (!c.app->parsed()) continue;
        headroom::handle_interrupts();
        const headroom::Result<int> code = c.run();
        if (code) return *code;
        fmt::print(stderr, "headroom: {}\n", on_one_line(code.error().text()));
        return headroom::exit_code(code.error().fault);
    }
    fmt::print("{}", root.help());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const int code = run(argc, argv);
        // What stdout could not take is lost: a pipe that was closed early, a full disk.
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        std::fprintf(stderr, "headroom: standard output: cannot be written: %s\n", std::strerror(errno));
        return 5;
    } catch (const std::exception& e) {  // out of memory, a full disk under stdout: nothing of ours throws
        std::fprintf(stderr, "headroom: %s\n", e.what());
        return 5;
    }
}
