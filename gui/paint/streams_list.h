// The lanes of a step, and what of them is painted for a range of time.
#pragma once

#include <memory>

#include "gui/paint/lane_list.h"

namespace headroom::gui {

// Some ops of each stream, ids ascending.
using OpsByStream = std::array<std::vector<OpId>, kStreams>;

// Sorts `ops` (ids ascending) by stream. Linear.
OpsByStream by_stream(const Timeline& timeline, std::span<const OpId> ops);

// Lanes of the streams that have ops, in the order of the enum. Immutable, shared with worker threads.
struct Lanes {
    std::shared_ptr<const Timeline> timeline;
    std::vector<Lane> lanes;
    OpsByStream critical;
    // Index of the stream's lane; lanes.size(): it has none.
    size_t place_of(Stream stream) const;
};
// `streams`: all ops of each, in order of time; they live as long as `timeline`. Cost: make_lane of each.
Lanes make_lanes(std::shared_ptr<const Timeline> timeline, const OpsByStream& streams,
                 std::span<const OpId> critical_path);

struct StreamsList {
    TimeAxis axis;
    std::vector<LaneList> lanes;                      // as Lanes::lanes
    std::vector<std::vector<Extent>> critical, hits;  // of each lane
    // Kinds with time in the range, most first.
    std::vector<KindShare> kinds;
};
// `hits`: null: nothing is searched for. Cost: list_of and extents_of of each lane.
StreamsList list_of(const Lanes& lanes, const OpsByStream* hits, const TimeAxis& axis);

}  // namespace headroom::gui
