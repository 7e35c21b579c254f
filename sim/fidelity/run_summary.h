// What is kept of a real run: enough to judge every prediction of it again, in tens of kilobytes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fidelity/engine_lines.h"
#include "fidelity/figures.h"
#include "fidelity/selection_sample.h"

namespace headroom::fidelity {

struct RunSummary {
    std::string name;           // of the suite's plan
    int64_t set = 0;            // of runs, on one machine (run_set.h); 0: none
    std::string machine, date;  // as the engine and the clock told
    std::string commit;         // of the program that ran
    std::string command;        // "headroom run PLAN --device cuda --steps 2"
    std::string plan;           // as JSON text (write_plan)
    std::string plan_hash;
    std::string failure;  // what ended the run; empty: it ran to its end
    int exit_code = 0;
    double wall_seconds = 0;                // of the process
    std::vector<double> step_seconds;       // by the host's clock
    std::vector<double> losses;             // NaN where it was no number
    double gradient_norm = 0;               // NaN: the same
    double tokens_per_second = 0, mfu = 0;  // of the measured step
    int64_t device_arena_bytes = 0;
    int64_t device_used_bytes = 0;  // the driver's total; 0: not told
    int64_t pinned_bytes = 0;       // the host's arena
    Figures figures;                // of the last step, with memory curves
    std::optional<SelectionSample> selection;

    bool ran() const { return failure.empty(); }
};

inline constexpr int64_t kCurveBins = 128;

// Takes over what the timeline of the run's last step says, and what the engine told.
void take_timeline(RunSummary& summary, const Timeline& timeline);
void take_told(RunSummary& summary, const EngineTold& told);

// JSON text; a run file holds it gzipped (NAME.run.json.gz).
std::string write_run(const RunSummary& summary);
Result<RunSummary> parse_run(std::string_view json, const std::string& where);
// Gzipped or plain.
Result<RunSummary> read_run(const std::filesystem::path& path);

}  // namespace headroom::fidelity
