// What of a lane is painted: a range of time over so many pixels as slices, bins, gaps and marks, in pixels.
#pragma once

#include <array>
#include <vector>

#include "gui/paint/lane.h"
#include "gui/paint/time_axis.h"

namespace headroom::gui {

struct Extent {
    double x = 0, width = 0;
};
// One op, at least LaneList::kFused_px wide. Cut off a little outside of the range.
struct Slice {
    Extent extent;
    OpId op = kNone;
    OpKind kind = OpKind::embed;
};
// Shorter ops of kFused_px of time or less, fused.
struct Bin {
    Extent extent;
    OpKind kind = OpKind::embed;          // the one with most time in it
    double busy = 0;                      // share of the time of `extent` that ops ran
    uint32_t parts_begin = 0, parts = 0;  // of LaneList::parts
};
// A kind's share of the time of a bin.
struct BinPart {
    double share = 0;
    OpKind kind = OpKind::embed;
};
// Nothing ran, for at least kFused_px, before op `after`.
struct Gap {
    Extent extent;
    OpId after = kNone;
};

// Contract: slices, bins and gaps ascend, do not overlap, and cover all ops of the range; bins stand on a
// grid of time that does not move when the range is panned.
struct LaneList {
    static constexpr double kFused_px = 3;

    Stream stream = Stream::compute;
    std::vector<Slice> slices;
    std::vector<Bin> bins;
    std::vector<BinPart> parts;  // of the bins; of each in the order of the enum
    std::vector<Gap> gaps;
    std::array<int64_t, kOpKinds> busy_ns{};  // of each kind within the range

    std::span<const BinPart> parts_of(const Bin& bin) const {
        return std::span(parts).subspan(bin.parts_begin, bin.parts);
    }
};
// Cost: as pixels times some 20 ops, whatever the count of ops: below a millisecond for 1600 pixels.
LaneList list_of(const Lane& lane, const TimeAxis& axis);

// Where the ops `marked` (of one stream, ids ascending) are within the range, at least a pixel each; extents
// that touch are one. Cost: pixels times the logarithm of the count of ops.
std::vector<Extent> extents_of(const Timeline& timeline, std::span<const OpId> marked, const TimeAxis& axis);

}  // namespace headroom::gui
