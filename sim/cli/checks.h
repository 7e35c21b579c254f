// What options are checked for, before any work begins.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace headroom::cli {

// A finite number of the closed range. (CLI::Range takes "nan" for one within any.)
CLI::Validator within(double low, double high);
// A file or folder that is named: `-o "$UNSET"` is a mistake.
CLI::Validator named();

// Whether `output` can be written without losing anything: its folder is there, it is no folder itself, and
// none of the files in `inputs` that are read for it. An empty output is not looked at. Error: bad_input.
Result<void> check_output(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace headroom::cli
