// The model types there are. To add one: its reader (in a file of its own), its declaration in type.h, its line here.
#include <array>

#include "model/types/type.h"

namespace headroom {

std::span<const ModelType> model_types() {
    static constexpr std::array<ModelType, 9> types{{{"qwen2", read_qwen2},
                                                     {"qwen3", read_qwen3},
                                                     {"qwen3_moe", read_qwen3_moe},
                                                     {"llama", read_llama},
                                                     {"mistral", read_mistral},
                                                     {"gemma3_text", read_gemma3},
                                                     {"gemma3", read_gemma3},
                                                     {"gpt_oss", read_gpt_oss},
                                                     {"deepseek_v3", read_deepseek_v3}}};
    return types;
}

}  // namespace headroom
