#include <array>

#include "model/families/family.h"

namespace headroom {

std::span<const Family> families() {
    static constexpr std::array table{
        Family{"qwen2", read_qwen2},
        Family{"qwen3", read_qwen3},
        Family{"qwen3_moe", read_qwen3_moe},
        Family{"llama", read_llama},
        Family{"mistral", read_mistral},
        Family{"gemma3_text", read_gemma3},
        Family{"gemma3", read_gemma3, true},
        Family{"gpt_oss", read_gpt_oss},
        Family{"deepseek_v3", read_deepseek_v3},
    };
    return table;
}

}  // namespace headroom
