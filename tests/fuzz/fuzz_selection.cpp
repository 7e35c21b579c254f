// Recorded selections: parsing ends with a selection that writes back equal, or an Error.
#include "input.h"
#include "plan/selection.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    const Result<RecordedSelection> selection = parse_selection(text_of(data, size), "fuzz");
    if (!selection) return 0;
    if (parse_selection(write_selection(*selection), "written").value() != *selection) __builtin_trap();
    return 0;
}
