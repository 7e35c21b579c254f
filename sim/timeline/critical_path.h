// The chain of ops that decided how long a step took. Private to the room.
#pragma once

#include "timeline/statistics.h"
#include "timeline/timeline.h"

namespace headroom {

// Fills critical_ns, critical_gap_ns and critical_path; duration_ns is already there, and is their sum.
void find_critical_path(const Timeline& timeline, Statistics& statistics);

}  // namespace headroom
