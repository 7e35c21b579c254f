// What writer and reader of trace files share (docs/timeline-format.md). Private to the room.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "program/program.h"
#include "timeline/json_text.h"
#include "timeline/timeline.h"

namespace headroom {

inline constexpr int64_t kTraceVersion = 1;
// Text of a trace: a step of 4Mi tokens has about a quarter of it.
inline constexpr int64_t kTraceLimit_bytes = 2 * kGiB;

// Perfetto groups tracks by process: one holds the streams, one more per tier the memory of the tier.
inline constexpr int64_t kStepProcess = 1;
constexpr int64_t thread_of(Stream stream) {
    return static_cast<int64_t>(stream) + 1;
}
constexpr int64_t process_of(Tier tier) {
    return kStepProcess + 1 + static_cast<int64_t>(tier);
}

inline constexpr std::array<std::string_view, 12> kTrafficColumns{
    "chunk",        "layer",         "pass",         "selected",
    "loaded",       "hit",           "evicted",      "gradients_loaded",
    "written_back", "first_touched", "loaded_bytes", "written_bytes"};

// Writes the text of the trace part by part. False: the sink stopped it.
bool render_timeline(const Timeline& timeline, const TextSink& sink);

}  // namespace headroom
