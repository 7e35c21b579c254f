// Worst instants of the memory curves. All samples of one instant take effect together: what is freed and
// taken at the same time never counts twice.
#pragma once

#include <array>

#include "timeline/statistics.h"
#include "timeline/timeline.h"

namespace headroom {

// The first instant at which each tier is as full as it ever gets. Cost: linear in samples and ops.
std::array<Peak, kTiers> peaks_of(const Timeline& timeline);
// The largest each category of each tier ever is, at whatever instant. Cost: linear in samples.
std::array<std::array<int64_t, kCategories>, kTiers> category_peaks_of(const Timeline& timeline);

}  // namespace headroom
