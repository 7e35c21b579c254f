// The contract of a Timeline (timeline.h), verified: what is written keeps it, and what is read is not
// believed.
#pragma once

#include <string>

#include "base/result.h"
#include "timeline/timeline.h"

namespace headroom {

// No time of a timeline lies past this (36 years), so that sums and differences of a few times never
// overflow.
inline constexpr int64_t kLatest_ns = int64_t{1} << 60;

// Error: the first op, wait or sample that breaks the contract, by its id; or a text that is not UTF-8, a
// result that is not finite. `where` leads the message. Cost: linear.
Result<void> check_timeline(const Timeline& timeline, const std::string& where);

}  // namespace headroom
