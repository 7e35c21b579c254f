// The ops of one stream, and a pyramid over them: what is needed to draw any range of a lane in the time that
// its pixels take, however many ops there are.
//
// Level 0 has a group for every 64 ops, each level above one for every 8 groups. A group knows its longest op
// and its longest gap, so that whoever draws knows whether all of it is too small to see; and the busy time
// of each kind inside, so that then nothing below it need be read.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "timeline/timeline.h"

namespace headroom::gui {

struct KindShare {
    int64_t busy_ns = 0;
    OpKind kind = OpKind::embed;
};

struct LaneGroup {
    int64_t begin_ns = 0, end_ns = 0;       // from the first start to the last end
    int64_t longest_ns = 0;                 // of its ops
    int64_t gap_ns = 0;                     // the longest before any of its ops, the first included
    uint32_t shares_begin = 0, shares = 0;  // of Level::shares
};

struct LaneLevel {
    std::vector<LaneGroup> groups;
    std::vector<KindShare> shares;
    std::span<const KindShare> shares_of(const LaneGroup& g) const {
        return std::span(shares).subspan(g.shares_begin, g.shares);
    }
};

struct Lane {
    static constexpr size_t kLeaf = 64, kFan = 8;

    Stream stream = Stream::compute;
    std::shared_ptr<const Timeline> timeline;
    std::span<const OpId> ops;  // in order of time; they live as long as `timeline`
    std::vector<LaneLevel> levels;

    const TimelineOp& op(size_t position) const { return timeline->ops[ops[position]]; }
    // From the end of the op before (or from 0) to the op's start.
    int64_t gap_begin_ns(size_t position) const { return position == 0 ? 0 : op(position - 1).end_ns; }
};

// Cost: linear; some 10 ms and 6 MB a million ops.
Lane make_lane(Stream stream, std::shared_ptr<const Timeline> timeline, std::span<const OpId> ops);

}  // namespace headroom::gui
