// Shell completion, generated from the commands themselves: subcommands, their options, scenarios, files.
#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "cli/command.h"

namespace headroom::cli {
namespace {

std::string words(const std::vector<std::string>& list) {
    return fmt::format("{}", fmt::join(list, " "));
}

std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* o : app.get_options()) {
        for (const std::string& s : o->get_snames()) names.push_back("-" + s);
        for (const std::string& l : o->get_lnames()) names.push_back("--" + l);
    }
    return names;
}

std::vector<std::string> shipped_scenarios() {
    std::vector<std::string> names;
    const Result<std::filesystem::path> data = data_folder();
    if (!data) return names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(*data / "scenarios", ignored)) {
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string bash(const CLI::App& root) {
    std::vector<std::string> commands;
    std::string cases;
    for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; })) {
        commands.push_back(app->get_name());
        cases += fmt::format("        {}) options=\"{}\" ;;\n", app->get_name(), words(options_of(*app)));
    }
    return fmt::format(R"sh(# bash completion of headroom: eval "$(headroom completion bash)"
_headroom() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} options=""
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "{} --help --version" -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ $COMP_CWORD -eq 2 && ${{COMP_WORDS[1]}} =~ ^(plan|max-context|sweep|view)$ ]]; then
        COMPREPLY=($(compgen -W "{}" -- "$word") $(compgen -f -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _headroom headroom
)sh",
                       words(commands), cases, words(shipped_scenarios()));
}

std::string fish(const CLI::App& root) {
    std::string text = "# fish completion of headroom: headroom completion fish | source\n";
    for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; })) {
        text += fmt::format("complete -c headroom -n __fish_use_subcommand -a {} -d '{}'\n", app->get_name(),
                            app->get_description());
        for (const CLI::Option* o : app->get_options()) {
            for (const std::string& l : o->get_lnames()) {
                text += fmt::format("complete -c headroom -n '__fish_seen_subcommand_from {}' -l {}\n",
                                    app->get_name(), l);
            }
        }
    }
    text += fmt::format(
        "complete -c headroom -n '__fish_seen_subcommand_from plan max-context sweep view' -a '{}'\n",
        words(shipped_scenarios()));
    return text;
}

}  // namespace

Command add_completion(CLI::App& root) {
    auto shell = std::make_shared<std::string>();
    CLI::App* app = root.add_subcommand("completion", "A completion script for bash, zsh or fish");
    app->footer("Examples:\n  eval \"$(headroom completion bash)\"\n  headroom completion fish | source");
    app->add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
    return {app, [shell, &root]() -> Result<int> {
                if (*shell == "bash") {
                    fmt::print("{}", bash(root));
                } else if (*shell == "zsh") {
                    fmt::print("autoload -U +X bashcompinit && bashcompinit\n{}", bash(root));
                } else if (*shell == "fish") {
                    fmt::print("{}", fish(root));
                } else {
                    return fail("completion", "'" + *shell + "' is no shell known here",
                                "'bash', 'zsh' or 'fish'");
                }
                return 0;
            }};
}

}  // namespace headroom::cli
