// config.json: whatever stands in it, parsing ends with a Model whose figures can be worked out, or an Error.
#include "input.h"
#include "model/model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    const Result<Model> model = parse_model(text_of(data, size), "fuzz", "fuzz");
    if (!model) return 0;
    (void)count_parameters(*model).total();
    (void)kv_bytes(*model, Dtype::fp32, Tokens(int64_t{1} << 30), true);
    (void)forward_flops(*model, Tokens(int64_t{1} << 30)).total();
    return 0;
}
