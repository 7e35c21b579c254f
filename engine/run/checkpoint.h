// Checkpoints: a folder with everything that a run needs to go on as if it had never stopped.
//
//   model.safetensors, config.json   the weights, as transformers loads them
//   optimizer.safetensors            what the optimizer keeps: master weights, moments, scales; LoRA adapters
//   checkpoint.json                  steps done, the plan's hash, the settings of the run
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "plan/plan.h"
#include "run/executor.h"

namespace headroom::engine {

inline constexpr int kCheckpointSchemaVersion = 1;

// What stands in checkpoint.json.
struct CheckpointFacts {
    int64_t steps = 0;                // done
    std::string plan_hash;            // of the plan that ran
    nlohmann::ordered_json settings;  // of the run, by option: numbers and texts
    bool operator==(const CheckpointFacts&) const = default;
};

// Replaces `folder` whole: writes beside it under a hidden name, then exchanges the two. Whenever the process
// or the machine stops, `folder` is the checkpoint before or this one. Cost: one pass over weights and states
// through the CPU; the disk holds two checkpoints meanwhile. Errors (Fault::run_failed): the disk;
// interrupted: then nothing is left behind.
Result<void> write_checkpoint(const std::filesystem::path& folder, const Plan& plan, const Executor& executor,
                              const nlohmann::ordered_json& settings);

// `folder` may be written to: it does not exist, is empty, or is a checkpoint. What else it holds would be
// lost.
Result<void> check_checkpoint_folder(const std::filesystem::path& folder);

// Error: no checkpoint; of another version of this file; malformed.
Result<CheckpointFacts> read_checkpoint_facts(const std::filesystem::path& folder);
// The states are all there, in the formats and sizes of the plan. No data is read.
Result<void> check_checkpoint_states(const std::filesystem::path& folder, const Plan& plan);
// Fills the states of `executor` and sets its steps. Weights are read as any others are (run/weights_io.h).
// check_checkpoint_states() has passed. Error: interrupted.
Result<void> load_checkpoint_states(const std::filesystem::path& folder, const Plan& plan, Executor& executor,
                                    int64_t steps);

}  // namespace headroom::engine
