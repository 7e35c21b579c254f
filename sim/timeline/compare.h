// Predicted against measured: the same op ids laid side by side.
#pragma once

#include <string>
#include <vector>

#include "timeline/statistics.h"
#include "timeline/timeline.h"

namespace headroom {

struct Difference {
    std::string what;       // "device peak", "device kv at its peak", "compute busy", "attention_own", "step time"
    std::string group;      // "tier", "category", "kind", "stream", "step"
    std::string unit;       // "bytes" or "ns"
    int64_t predicted = 0, measured = 0;
    double error = 0;       // (predicted - measured) / measured; both zero: 0; measured zero: +-infinity
    double weight = 0;      // share of its group's total in the measured timeline: what is under 0.5 % is not judged
    bool judged = true;
};

struct Comparison {
    bool same_plan = false;        // equal plan hashes
    int64_t unmatched_ops = 0;     // ids or kinds that differ
    std::vector<Difference> differences;  // step, tiers, categories, streams, kinds
    double worst = 0;              // largest |error| of the judged
};
// Error where the timelines are of programs that cannot be laid side by side (another count or kind of ops).
Result<Comparison> compare(const Timeline& predicted, const Timeline& measured);

}  // namespace headroom
