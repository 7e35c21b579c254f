// A small part of a long timeline, for keeping: the ops of some chunks, and memory curves with fewer samples.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "timeline/timeline.h"

namespace headroom {

struct ExcerptRule {
    std::vector<uint32_t> chunks;  // whose ops are kept, ascending; ops of no chunk are
    int64_t instants = 4096;       // of the memory curves, about: each tier's fullest of every so many parts
};

// The timeline of those ops alone, numbered anew, with the waits between them; traffic, results and plan as
// they are. Of each of `instants` equal parts of the step and each tier the fullest instant and the last one
// stay, with every category: so the peaks of tiers, at the same instants, are those of the whole timeline.
// `excerpt` says what was kept. An excerpt of an excerpt, or a chunk that the timeline does not have, is an
// error; so is no instant. Cost: linear.
Result<Timeline> excerpt(const Timeline& timeline, const ExcerptRule& rule, const std::string& where);

// The ops of `whole` that `part`, an excerpt of a timeline of the same plan, has; memory as it is. So the two
// can be laid side by side. Cost: linear.
Result<Timeline> cut_like(const Timeline& whole, const Timeline& part, const std::string& where);

}  // namespace headroom
