// One file per model_type: it reads the keys of its own on top of those that all share (common.h).
// To add a type: its file, its declaration here, its line in families.cpp.
#pragma once

#include <span>
#include <string_view>

#include "base/table.h"
#include "model/model.h"

namespace headroom {

struct Family {
    std::string_view name;  // model_type of config.json
    // Fills all of `model` but name and type. The sizes that belong together are checked afterwards
    // (check.h).
    Result<void> (*read)(ConfigTable& config, Model& model);
    bool nested = false;  // multimodal: the language model stands in text_config
};
std::span<const Family> families();

Result<void> read_deepseek_v3(ConfigTable& config, Model& model);
Result<void> read_gemma3(ConfigTable& config, Model& model);
Result<void> read_gpt_oss(ConfigTable& config, Model& model);
Result<void> read_llama(ConfigTable& config, Model& model);
Result<void> read_mistral(ConfigTable& config, Model& model);
Result<void> read_qwen2(ConfigTable& config, Model& model);
Result<void> read_qwen3(ConfigTable& config, Model& model);
Result<void> read_qwen3_moe(ConfigTable& config, Model& model);

}  // namespace headroom
