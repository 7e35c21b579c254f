// Starts the engine's program and reads what it says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/sibling_program.h"

namespace headroom::cli {

// Beside this program, in the engine's build beside this one, else wherever PATH has it.
const SiblingProgram& engine_program();
std::string engine_path();

// Runs it and hands each line of its standard output to `on_line`; its messages go to our standard error, or
// to the open file `messages`.
// Ctrl-C is handed on to it once, and it is waited for. Returns its exit code (128 + the signal that ended
// it). Errors: there is no such program; the system starts none.
Result<int> run_engine(std::vector<std::string> words, const std::function<void(const std::string&)>& on_line,
                       int messages = -1);

}  // namespace headroom::cli
