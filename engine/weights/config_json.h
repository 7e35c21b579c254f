// A model as the config.json that transformers and this project's own reader take.
#pragma once

#include <string>

#include "base/dtype.h"
#include "base/result.h"
#include "model/model.h"

namespace headroom {

// `dtype`: of the weights beside it. parse_model() of the text gives the model again. Errors: a family whose
// config is not written (written are gemma3_text, llama, mistral, qwen2 and qwen3); a model that its family's
// config cannot say.
Result<std::string> config_json(const Model& model, Dtype dtype);

}  // namespace headroom
