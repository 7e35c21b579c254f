// Which options of a run decide its result: kept in a checkpoint, and compared when it goes on.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "cli/run_options.h"

namespace headroom::engine {

// {"seed": 0, "learning-rate": 1e-4, ...}: by name of the option; paths absolute.
nlohmann::ordered_json settings_of(const cli::RunOptions& options);

// The options of a run that goes on from `recorded` settings: what was not given takes its recorded value.
// Errors: a given option that says something else than what is recorded (but for the token file and the
// device, which may be elsewhere now); settings that are missing or of another type, in the file `where`.
Result<cli::RunOptions> resumed_options(const cli::RunOptions& options,
                                        const nlohmann::ordered_json& recorded, const std::string& where);

}  // namespace headroom::engine
