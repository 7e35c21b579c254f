#include "gui/paint/lane.h"

#include <algorithm>
#include <array>

namespace headroom::gui {
namespace {

// Sums by kind; remembers which kinds it has, so that clearing costs what was used.
class KindSums {
public:
    void add(OpKind kind, int64_t ns) {
        const auto k = static_cast<size_t>(kind);
        if (!seen_[k]) {
            seen_[k] = true;
            used_.push_back(kind);
        }
        sum_[k] += ns;
    }
    void move_to(LaneLevel& level, LaneGroup& group) {
        std::sort(used_.begin(), used_.end());
        group.shares_begin = static_cast<uint32_t>(level.shares.size());
        group.shares = static_cast<uint32_t>(used_.size());
        for (const OpKind kind : used_) {
            const auto k = static_cast<size_t>(kind);
            level.shares.push_back({sum_[k], kind});
            sum_[k] = 0;
            seen_[k] = false;
        }
        used_.clear();
    }

private:
    std::array<int64_t, kOpKinds> sum_{};
    std::array<bool, kOpKinds> seen_{};
    std::vector<OpKind> used_;
};

LaneLevel leaves_of(const Lane& lane) {
    LaneLevel level;
    level.groups.reserve(lane.ops.size() / Lane::kLeaf + 1);
    KindSums sums;
    for (size_t first = 0; first < lane.ops.size(); first += Lane::kLeaf) {
        const size_t last = std::min(first + Lane::kLeaf, lane.ops.size());
        LaneGroup group;
        group.begin_ns = lane.op(first).start_ns;
        group.end_ns = lane.op(last - 1).end_ns;
        int64_t before_ns = lane.gap_begin_ns(first);
        for (size_t i = first; i < last; ++i) {
            const TimelineOp& op = lane.op(i);
            group.longest_ns = std::max(group.longest_ns, op.end_ns - op.start_ns);
            group.gap_ns = std::max(group.gap_ns, op.start_ns - before_ns);
            before_ns = op.end_ns;
            sums.add(op.kind, op.end_ns - op.start_ns);
        }
        sums.move_to(level, group);
        level.groups.push_back(group);
    }
    return level;
}

LaneLevel above(const LaneLevel& below) {
    LaneLevel level;
    level.groups.reserve(below.groups.size() / Lane::kFan + 1);
    KindSums sums;
    for (size_t first = 0; first < below.groups.size(); first += Lane::kFan) {
        const size_t last = std::min(first + Lane::kFan, below.groups.size());
        LaneGroup group;
        group.begin_ns = below.groups[first].begin_ns;
        group.end_ns = below.groups[last - 1].end_ns;
        for (size_t i = first; i < last; ++i) {
            const LaneGroup& child = below.groups[i];
            group.longest_ns = std::max(group.longest_ns, child.longest_ns);
            group.gap_ns = std::max(group.gap_ns, child.gap_ns);
            for (const KindShare& share : below.shares_of(child)) sums.add(share.kind, share.busy_ns);
        }
        sums.move_to(level, group);
        level.groups.push_back(group);
    }
    return level;
}

}  // namespace

Lane make_lane(Stream stream, std::shared_ptr<const Timeline> timeline, std::span<const OpId> ops) {
    Lane lane{stream, std::move(timeline), ops, {}};
    if (ops.empty()) return lane;
    lane.levels.push_back(leaves_of(lane));
    while (lane.levels.back().groups.size() > 1) lane.levels.push_back(above(lane.levels.back()));
    return lane;
}

}  // namespace headroom::gui
