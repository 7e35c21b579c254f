// What a real run of a plan is to do, and what speaks against it on this machine.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace headroom::gui {

// Options of `headroom-engine run` (sim/cli/run_options.h) that have a control.
struct RunSettings {
    QString device = "cpu";  // or "cuda"
    int64_t steps = 3, seed = 0;
    double learning_rate = 1e-4;
    QString output;                            // the measured timeline, *.trace.json.gz
    bool record_selection = false;             // beside it (open_file.h); of sparse plans of several chunks
    QString weights, tokens;                   // files; empty: seeded
    QString save_weights, checkpoint, resume;  // folders; empty: none
};
// The engine's command line after its name. What is as the engine has it is left out.
QStringList words_of(const RunSettings& settings, const QString& plan_file);

// Where this machine can run: "cpu", and "cuda" where it has an NVIDIA device or its tool.
QStringList run_devices();
// Of this machine; 0 where it does not tell.
int64_t host_memory_bytes();

// One reason against a run, in words.
struct Obstacle {
    bool stops = false;  // else it is only worth knowing
    QString text;
    bool operator==(const Obstacle&) const = default;
};
// What a run would take, as far as it is known; 0: not known.
struct RunNeeds {
    int64_t bytes = 0;  // of device and host together
    double flops = 0;   // of one step
};
// `engine`: as find_program gave it. `plan`: null where none is open. Looks at the file system.
std::vector<Obstacle> obstacles_of(const Plan* plan, const RunNeeds& needs, const RunSettings& settings,
                                   const std::string& engine);

}  // namespace headroom::gui
