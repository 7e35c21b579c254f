// Quantities and errors as QString.
#pragma once

#include <QString>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "timeline/timeline.h"

namespace headroom::gui {

QString text_of(std::string_view utf8);
QString bytes_text(int64_t bytes);   // "1.10 GiB"
QString time_text(int64_t ns);       // "2 min 15.7 s"
QString instant_text(int64_t ns);    // of the step, to the microsecond: "135.701234 s"
QString count_text(int64_t count);   // "1,048,576"
QString percent_text(double share);  // 0.123 -> "12.3 %"
// Bytes a second over `ns`: "51.2 GB/s"; "-" where no time passed.
QString rate_text(int64_t bytes, int64_t ns);
// "attention_past_backward" -> "attention past backward".
template <class Named>
QString label_of(Named v) {
    return text_of(name_of(v)).replace('_', ' ');
}
// "layer 3, chunk 12, piece 1, gradient pass": where in the step an op is.
QString place_text(uint32_t chunk, uint16_t layer, uint16_t piece, Pass pass);
// "load pages (chunk 12, layer 3)": an op in a sentence. "embed" where it is of no chunk and no layer.
QString op_text(const TimelineOp& op);
// "812.5 TFLOP/s"; "-" where no time passed.
QString flop_rate_text(double flops, int64_t ns);

}  // namespace headroom::gui
