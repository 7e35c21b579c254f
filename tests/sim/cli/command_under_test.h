// The built `headroom` as its users run it: arguments in, exit code, stdout and stderr out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headroom::test {

struct Outcome {
    int code = -1;  // of exit; 128 + signal where one ended it
    std::string out, err;
};

// Runs it in `folder` with the data of the source tree. `out_to`: a file that stdout goes to instead.
Outcome run_headroom(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                     const std::string& out_to = "");

// A command line cut into words at spaces; 'single' and "double" quotes keep them.
std::vector<std::string> words_of(const std::string& line);

// Number of lines.
size_t lines_of(const std::string& text);

}  // namespace headroom::test
