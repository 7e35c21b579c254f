// A set of runs: what one machine ran in one go. Machines differ, so that each set says how well it repeats
// itself and how far the machine is from the calibration.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headroom::fidelity {

struct RunSet {
    int64_t id = 1;
    std::string machine, date, commit;
    // The file of models/hardware that a replay predicts its runs from; empty: the one that they were planned
    // with.
    std::string hardware;
    std::string repeated;                 // name of the plan that was run at the beginning and at the end
    std::vector<int64_t> repeat_step_ns;  // its step, each time
    // What `calibrate --check` printed, line by line; empty: not read, and why.
    std::vector<std::string> calibration;
    std::string calibration_not_read;
    // Largest difference of two repeats, relative to the least; 0 where there are not two.
    double repeatability() const;
    bool operator==(const RunSet&) const = default;
};

// The hardware file that a run of set `id` is predicted from in a replay; `planned`: the one of its plan.
std::string hardware_of(std::span<const RunSet> sets, int64_t id, const std::string& planned);

std::string write_run_set(const RunSet& set);
Result<RunSet> parse_run_set(std::string_view json, const std::string& where);

}  // namespace headroom::fidelity
