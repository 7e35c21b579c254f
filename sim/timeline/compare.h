// Predicted against measured: the same op ids laid side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/statistics.h"
#include "timeline/timeline.h"

namespace headroom {

struct Difference {
    // "step time", "device peak", "device kv at its peak" (the largest the category ever was), "compute
    // busy", "attention_own".
    std::string what;
    std::string group;  // "tier", "category", "kind", "stream", "step"
    std::string unit;   // "bytes" or "ns"
    int64_t predicted = 0, measured = 0;
    double error = 0;    // (predicted - measured) / measured; both zero: 0; measured zero: +-infinity
    double weight = 0;   // share of its group's total, in the timeline where it is larger
    bool judged = true;  // weight >= 0.5 %
};

struct Comparison {
    bool same_plan = false;     // equal plan hashes
    std::string excerpt;        // what of the step both are; empty: all of it
    int64_t unmatched_ops = 0;  // same kind, but of another stream, pass, chunk, layer, piece or sequence
    std::vector<Difference> differences;  // step, tiers, categories, streams, kinds
    double worst = 0;                     // largest |error| of the judged
};
// Error where the timelines are of programs that cannot be laid side by side (another count or kind of ops).
// Where one is an excerpt (excerpt.h), the other is cut like it. Rows that are zero on both sides are left
// out. Cost: linear, as statistics_of.
Result<Comparison> compare(const Timeline& predicted, const Timeline& measured);

}  // namespace headroom
