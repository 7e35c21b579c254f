// The two parts of a trace file, read into a Timeline. Private to the room.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "timeline/json_fields.h"
#include "timeline/timeline.h"

namespace headroom {

// What the file says it holds: a file that lost events on its way is found out.
struct TraceCounts {
    int64_t ops = 0, waits = 0, samples = 0;
};

// "otherData": everything but ops and memory samples.
Result<TraceCounts> read_metadata(ondemand::object object, const std::string& where, Timeline& timeline);
// "traceEvents": ops with their waits, and memory samples. The contract between events is check_timeline's.
Result<void> read_events(ondemand::array events, const std::string& where, Timeline& timeline);

}  // namespace headroom
