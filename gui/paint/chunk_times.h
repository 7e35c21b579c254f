// When each chunk of a step is worked on: what a replay shows at an instant.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "gui/paint/page_map.h"
#include "timeline/timeline.h"

namespace headroom::gui {

// From `start_ns` on, until the next of its kind, the compute stream works on this.
struct WorkSpan {
    int64_t start_ns = 0;
    uint32_t chunk = kNone;
    uint16_t layer = kNoLayer;
    Pass pass = Pass::setup;
    bool operator==(const WorkSpan&) const = default;
};

struct ChunkTimes {
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

    int64_t chunks = 0, layers = 0;
    std::vector<WorkSpan> spans;  // by start
    // [(layers + 1) x chunks], the last row of all layers together: when work on it begins first (of a batch:
    // in its first sequence). By pass, as PageMap.
    std::array<std::vector<int64_t>, 2> begin_ns;
    // [layers x chunks]: the first op that attends the chunk's past; kNone: none.
    std::array<std::vector<OpId>, 2> past_op;

    // The span at an instant; null before the first. Cost: O(log spans).
    const WorkSpan* at(int64_t ns) const;
    int64_t begin(Pass pass, int layer, int64_t chunk) const;
    bool begun(Pass pass, int layer, int64_t chunk, int64_t ns) const {
        return begin(pass, layer, chunk) <= ns;
    }
    OpId op_of(Pass pass, int layer, int64_t chunk) const;  // of all layers: kNone
};
// Cost: O(ops).
ChunkTimes chunk_times(const Timeline& timeline, int64_t chunks, int64_t layers);

}  // namespace headroom::gui
