// A whole run: a plan and what it begins with from files, the steps, what is left in files.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/run_options.h"

namespace headroom::engine {

// Called with each event of the run, one JSON object: {"event": "start" | "progress" | "step" |
// "checkpoint" | "saved" | "written" | "end", ...}; every key has its unit in its name.
using Say = std::function<void(const nlohmann::ordered_json&)>;

// Contract: everything that can be wrong with the input is looked at before any memory is allocated or any
// file is written; files appear whole or not at all. Errors by fault: bad_input (a file, an option, a plan
// that the engine does not run), does_not_fit (more memory than the machine has), run_failed (memory, the
// disk, an op), interrupted.
Result<void> train(const cli::RunOptions& options, const Say& say);

}  // namespace headroom::engine
