// Two steps of the same ops on one axis of time: what of both is painted.
#pragma once

#include <memory>
#include <vector>

#include "gui/paint/memory_list.h"
#include "gui/paint/streams_list.h"

namespace headroom::gui {

// Immutable, shared with worker threads.
struct CompareTracks {
    Lanes predicted, measured;
    // Of the tiers that either uses; both of one tier at the same place.
    std::vector<MemoryCurve> predicted_memory, measured_memory;
    // Streams with ops in either, in the order of the enum.
    std::vector<Stream> streams() const;
};
// `streams`: the ops of each stream in order of time, of the predicted and of the measured timeline; they
// live as long as the timelines.
CompareTracks make_tracks(std::shared_ptr<const Timeline> predicted, const OpsByStream& predicted_streams,
                          std::shared_ptr<const Timeline> measured, const OpsByStream& measured_streams);

// A curve as a line of steps: from `x` on, `bytes`. Neighbours differ.
struct StepPoint {
    double x = 0;
    int64_t bytes = 0;
};

struct CompareList {
    TimeAxis axis;
    StreamsList predicted, measured;
    // Of each tier. The fullest instant of every column of pixels; of a category: its bytes at that instant.
    std::vector<std::vector<StepPoint>> predicted_memory, measured_memory;
    // The scale: up to the most of both in the whole step (of a category: in view). From 0, or, where all
    // that is in view lies in the upper half, from a little below it.
    std::vector<int64_t> least_bytes, most_bytes;
};
// `category`: Category::count_ means all of them together.
CompareList list_of(const CompareTracks& tracks, Category category, const TimeAxis& axis);

}  // namespace headroom::gui
