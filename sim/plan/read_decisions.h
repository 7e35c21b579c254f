// The decisions of a scenario's [plan] or of plan.json's "plan", through visit_decisions().
#pragma once

#include <limits>
#include <set>
#include <string>

#include "base/result.h"
#include "plan/decisions.h"
#include "plan/plan.h"
#include "plan/reader.h"

namespace headroom {

// Residency::disk_chunks of `kv = "disk"`: every chunk, however many there turn out to be.
inline constexpr int64_t kAllChunks = std::numeric_limits<int64_t>::max();

// The key of a decision of type T: in plan files tokens and bytes say so.
template <class T>
std::string decision_key(const char* key, bool with_unit) {
    if (with_unit && std::is_same_v<T, Tokens>) return std::string(key) + "_tokens";
    if (with_unit && std::is_same_v<T, Bytes>) return std::string(key) + "_bytes";
    return key;
}

// Reads every decision of `table` into `out`, names those that stand there in `fixed`, and finishes the
// table. `layers` is what "device" stands for.
Result<void> read_decisions(TableReader& table, int64_t layers, Decisions& out, std::set<std::string>& fixed);
// Puts the number of chunks where kAllChunks stands; the last step of reading.
void settle_all_chunks(Plan& plan);

}  // namespace headroom
