// The options of a training run: what `headroom run` and headroom-engine, which it starts, both take.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace headroom::cli {

struct RunOptions {
    std::string plan, device = "cuda", output;
    int64_t steps = 1, seed = 0;
    std::string weights, tokens;               // files; empty: seeded
    std::string save_weights, save_gradients;  // folders; empty: not saved
    std::string record_selection;              // a file; empty: not written
    std::string checkpoint, resume;            // folders
    int64_t checkpoint_every = 0;              // steps; 0: at the end
    std::string disk;                          // a folder; empty: that of the output, else the current one
    // Of the optimizer.
    double learning_rate = 1e-4, min_learning_rate = 0;
    std::string schedule = "constant";
    int64_t warmup_steps = 0, total_steps = 0;  // total: of the schedule; 0: `steps`
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1, clip_norm = 1;
    std::string attention = "auto";  // aten, graph; auto: graph on a GPU
    bool no_device_check = false;    // allocate, and see
    bool json = false;               // of `headroom run`: the engine's lines as they are
    std::set<std::string> given;     // long names of the options that the user wrote
};

// Declares them on a subcommand, with help and ranges. `options` must outlive the parsing.
void add_run_options(CLI::App& app, RunOptions& options);

// Whether the files that a run writes at its end can be written, and are none of those that it reads; asked
// before it begins. Error: bad_input.
Result<void> check_outputs(const RunOptions& options);

// The words that say again what was parsed by `app`: for the program that takes the same options.
std::vector<std::string> words_of(const CLI::App& app);

}  // namespace headroom::cli
