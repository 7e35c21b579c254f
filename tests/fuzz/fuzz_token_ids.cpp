// Token ids from .npy files: as many as the header says, each within the vocabulary, or an Error.
#include "file_of.h"
#include "weights/token_ids.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    constexpr int64_t kVocabulary = 1000;
    const FileOf file(data, size, "fuzz.npy");
    const Result<Tokens> count = count_token_ids(file.path());
    if (!count) return 0;
    if (count->count() < 0 || count->count() > static_cast<int64_t>(size)) __builtin_trap();
    const Result<std::vector<int32_t>> ids = read_token_ids(file.path(), Tokens(0), *count, kVocabulary);
    if (!ids) return 0;
    if (static_cast<int64_t>(ids->size()) != count->count()) __builtin_trap();
    for (const int32_t id : *ids)
        if (id < 0 || id >= kVocabulary) __builtin_trap();
    return 0;
}
