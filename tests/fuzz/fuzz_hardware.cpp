// Hardware TOML: parsing ends with a machine that can price any work, or an Error.
#include "hardware/hardware.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    const Result<Hardware> hardware = parse_hardware(text_of(data, size), "fuzz", "fuzz");
    if (!hardware) return 0;
    try {
        (void)duration_of(gemm(4096, 3584, 18944), *hardware);
        (void)duration_of(copy(WorkKind::copy_to_device, 1 << 30, 64), *hardware);
        (void)duration_of(attention(true, true, false, 4096, 8192, 28, 4, 128), *hardware);
    } catch (const Overflow&) {  // the library's entry points turn it into an Error
    }
    return 0;
}
