// Pages and bytes that travel for each chunk, and the same fused to as many columns as there is room for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gui/paint/page_map.h"
#include "timeline/timeline.h"

namespace headroom::gui {

// Sums over the rows of Timeline::traffic of one chunk; as Traffic.
struct ChunkTraffic {
    int64_t selected = 0, loaded = 0, hit = 0, evicted = 0, gradients_loaded = 0, written = 0,
            first_touched = 0, loaded_bytes = 0, written_bytes = 0;
    void add(const ChunkTraffic& other);
    bool operator==(const ChunkTraffic&) const = default;
};

struct TrafficTable {
    int64_t chunks = 0, layers = 0;
    std::array<std::vector<ChunkTraffic>, 2> rows;  // [(layers + 1) x chunks], all layers last; by pass
    const ChunkTraffic& of(Pass pass, int layer, int64_t chunk) const;
};
// Cost: O(rows of traffic).
TrafficTable traffic_table(const Timeline& timeline, int64_t chunks, int64_t layers);

enum class TrafficUnit : uint8_t { pages, bytes };
// What a bar is stacked of. Pages: K and V loaded, found in the page cache, dK and dV loaded, written home.
// Bytes: loaded and written; the parts between them are 0.
inline constexpr size_t kTrafficParts = 4;
using TrafficBar = std::array<double, kTrafficParts>;
TrafficBar bar_of(const ChunkTraffic& traffic, TrafficUnit unit);

// Column i is the mean over chunks [first + i, first + i + 1) * chunks_each (those that there are).
struct TrafficColumns {
    int64_t first = 0, chunks_each = 1;
    std::vector<TrafficBar> bars;
    double most() const;  // the highest stack
};
// Columns over chunks [from, to); each of as many chunks as make at most `most` columns of them, so many that
// a pan does not change which chunks share one. Cost: O(chunks in view).
TrafficColumns traffic_columns(const TrafficTable& table, Pass pass, int layer, TrafficUnit unit, double from,
                               double to, int64_t most);

}  // namespace headroom::gui
