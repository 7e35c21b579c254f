// Measures the machine: kernels, links, and what they take from each other. The planner fits.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/calibrate_options.h"

namespace headroom::engine {

// Called with each event, one JSON object: {"event": "start" (device) | "progress" (doing, share) |
// "measured" (toml: a [measured] table of the rows since the last one) | "skipped" (what, why) | "end"
// (seconds)}.
using SayMeasured = std::function<void(const nlohmann::ordered_json&)>;

// Takes about 140 s on an H200, a tenth of it with `quick`; seconds on a CPU. What cannot be measured is
// skipped and said; the rest goes on. Errors: bad_input (no GPU), run_failed (CUDA's context was lost, with
// the piece of work that it was lost by; what was measured before it was said), interrupted.
Result<void> calibrate(const cli::CalibrateOptions& options, const SayMeasured& say);

}  // namespace headroom::engine
