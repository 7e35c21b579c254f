// Weights from safetensors files into the buffer of all parameters, and back.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>

#include "base/result.h"
#include "plan/plan.h"
#include "weights/weight_files.h"

namespace headroom::engine {

// Every parameter of the model is there, in its shape and a format that is computed with, and nothing that
// the model has not: else the files are those of another model. (A tied head stored apart, and frequencies of
// RoPE as old files keep them, are ignored.) Cost: names only, no data is read. Errors name file and tensor.
Result<void> check_weights(const Model& model, const WeightFiles& files);

// Fills `weights` (flat, in the order of parameter_list(), on any device), rounded to nearest where its dtype
// is narrower than the file's; and `master` (fp32, alike) where it is defined. check_weights() has passed.
// Cost: one pass over the files through a CPU buffer of some MiB. Error: interrupted.
Result<void> load_weights(const Model& model, const WeightFiles& files, at::Tensor weights,
                          at::Tensor master = {});

// Writes `folder`/model.safetensors and, where config_json() can say the model, config.json beside it, each
// whole or not at all; the folder is made if need be. Returns whether there is a config.json. Errors
// (Fault::run_failed): the disk; interrupted.
Result<bool> save_weights(const Plan& plan, const at::Tensor& weights, const std::filesystem::path& folder);
// Writes `folder`/model.safetensors, or of LoRA adapter_model.safetensors: the gradients (flat, as the
// executor has them) under the names of what they are of, in the dtype that the plan sums them in. Errors as
// above.
Result<void> save_gradients(const Plan& plan, const at::Tensor& gradients,
                            const std::filesystem::path& folder);
// LoRA: writes `folder`/adapter_model.safetensors and adapter_config.json, as PEFT loads them. Returns true.
Result<bool> save_adapters(const Plan& plan, const at::Tensor& adapters, const std::filesystem::path& folder);

}  // namespace headroom::engine
