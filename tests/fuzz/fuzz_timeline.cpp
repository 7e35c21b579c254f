// Trace files, as JSON: parsing ends with a Timeline that writes back equal and that
// statistics can be taken of, or an Error.
#include "input.h"
#include "timeline/compare.h"
#include "timeline/statistics.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    const Result<Timeline> timeline = parse_timeline(text_of(data, size), "fuzz");
    if (!timeline) return 0;
    if (parse_timeline(format_timeline(*timeline), "written").value() != *timeline) __builtin_trap();
    (void)statistics_of(*timeline);
    (void)compare(*timeline, *timeline);
    return 0;
}
