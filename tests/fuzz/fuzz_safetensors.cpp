// Weight files: opening ends with tensors that lie inside the file, side by side, or an Error.
#include "file_of.h"
#include "weights/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    const FileOf file(data, size, "fuzz.safetensors");
    const Result<SafetensorsFile> opened = SafetensorsFile::open(file.path());
    if (!opened) return 0;
    size_t bytes = 0;
    unsigned sum = 0;
    for (const auto& [name, tensor] : opened->tensors()) {
        bytes += tensor.data.size();
        for (const std::byte b : tensor.data) sum += std::to_integer<unsigned>(b);
    }
    volatile unsigned keep = sum;  // every byte was read
    static_cast<void>(keep);
    if (bytes > size) __builtin_trap();
    return 0;
}
