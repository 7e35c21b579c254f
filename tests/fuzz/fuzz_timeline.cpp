// Trace files, as JSON: parsing ends with a Timeline that writes back equal and that
// statistics can be taken of, or an Error; read in pieces, it is the same Timeline or left alone.
#include "input.h"
#include "timeline/compare.h"
#include "timeline/read_parts.h"
#include "timeline/statistics.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    const std::string text(text_of(data, size));
    const Result<Timeline> timeline = parse_timeline(text, "fuzz");
    std::string_view rest = text;
    const auto in_pieces = read_in_pieces(
        [&](std::span<char> into) -> Result<size_t> {
            const size_t n = rest.copy(into.data(), into.size());
            rest.remove_prefix(n);
            return n;
        },
        "fuzz", 200);
    if (in_pieces && (!timeline || *in_pieces != *timeline)) __builtin_trap();
    if (!timeline) return 0;
    if (parse_timeline(format_timeline(*timeline), "written").value() != *timeline) __builtin_trap();
    (void)statistics_of(*timeline);
    (void)compare(*timeline, *timeline);
    return 0;
}
