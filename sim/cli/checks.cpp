#include "cli/checks.h"

#include <fmt/format.h>

#include <filesystem>

namespace headroom::cli {

CLI::Validator within(double low, double high) {
    const std::string range = fmt::format("a number from {:g} to {:g}", low, high);
    return {[low, high, range](const std::string& text) {
                double v = 0;
                const bool is = CLI::detail::lexical_cast(text, v) && v >= low && v <= high;
                return is ? std::string() : fmt::format("'{}'; allowed: {}", text, range);
            },
            range};
}

CLI::Validator named() {
    return {[](const std::string& text) {
                return text.empty() ? std::string("an empty name; allowed: the name of a file")
                                    : std::string();
            },
            ""};
}

Result<void> check_output(const std::string& output, const std::vector<std::string>& inputs) {
    namespace fs = std::filesystem;
    if (output.empty()) return {};
    std::error_code ignored;
    if (fs::is_directory(output, ignored)) return fail(output, "is a folder", "the name of a file");
    const fs::path folder = fs::path(output).parent_path();
    if (!folder.empty() && !fs::is_directory(folder, ignored))
        return fail(output, "its folder is not there", "a file in a folder that there is");
    for (const std::string& input : inputs) {
        if (!input.empty() && fs::equivalent(output, input, ignored))
            return fail(output, "is read for what would be written to it", "another file");
    }
    return {};
}

}  // namespace headroom::cli
