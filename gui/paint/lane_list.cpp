#include "gui/paint/lane_list.h"

#include <algorithm>
#include <cmath>

namespace headroom::gui {
namespace {

// Visits the groups and ops of the range in order of time, and fills the list.
class Filler {
public:
    Filler(const Lane& lane, const TimeAxis& axis, LaneList& list)
        : lane_(lane),
          axis_(axis),
          list_(list),
          cell_ns_(std::max<int64_t>(1, std::llround(LaneList::kFused_px * axis.ns_per_pixel()))),
          // Whole cells, so that the bins at both edges say what they say when they are farther inside.
          begin_ns_(axis.begin_ns / cell_ns_ * cell_ns_),
          end_ns_((axis.end_ns + cell_ns_ - 1) / cell_ns_ * cell_ns_) {}

    void fill() {
        const size_t top = lane_.levels.size() - 1;
        for (size_t i = 0; i < lane_.levels[top].groups.size(); ++i) visit(top, i);
        // Within the gap before the first op after the range.
        const auto after = std::partition_point(lane_.ops.begin(), lane_.ops.end(), [&](OpId op) {
            return lane_.timeline->ops[op].start_ns < end_ns_;
        });
        if (after != lane_.ops.end()) gap_before(static_cast<size_t>(after - lane_.ops.begin()));
        close_bin(end_ns_);
    }

private:
    void visit(size_t level, size_t index) {
        const LaneGroup& group = lane_.levels[level].groups[index];
        if (group.end_ns < begin_ns_ || group.begin_ns >= end_ns_) return;
        const int64_t cell = group.begin_ns / cell_ns_;
        // Smaller than a pixel, all of it, and in one cell with the gap before it.
        if (group.longest_ns < cell_ns_ && group.gap_ns < cell_ns_ && group.begin_ns >= axis_.begin_ns &&
            group.end_ns <= std::min(axis_.end_ns, (cell + 1) * cell_ns_)) {
            move_to(group.begin_ns);
            for (const KindShare& share : lane_.levels[level].shares_of(group)) {
                list_.busy_ns[static_cast<size_t>(share.kind)] += share.busy_ns;
                add(share.kind, share.busy_ns);
            }
            return;
        }
        if (level == 0) {
            const size_t last = std::min((index + 1) * Lane::kLeaf, lane_.ops.size());
            for (size_t i = index * Lane::kLeaf; i < last; ++i) visit_op(i);
            return;
        }
        const size_t last = std::min((index + 1) * Lane::kFan, lane_.levels[level - 1].groups.size());
        for (size_t i = index * Lane::kFan; i < last; ++i) visit(level - 1, i);
    }

    void visit_op(size_t position) {
        const TimelineOp& op = lane_.op(position);
        if (op.end_ns < begin_ns_ || op.start_ns >= end_ns_) return;
        gap_before(position);
        const int64_t inside = std::min(op.end_ns, axis_.end_ns) - std::max(op.start_ns, axis_.begin_ns);
        list_.busy_ns[static_cast<size_t>(op.kind)] += std::max<int64_t>(0, inside);
        if (op.end_ns - op.start_ns >= cell_ns_) {
            close_bin(op.start_ns);
            list_.slices.push_back({extent(op.start_ns, op.end_ns), lane_.ops[position], op.kind});
            piece_begin_ns_ = op.end_ns;
            return;
        }
        move_to(op.start_ns);
        const int64_t cell_end = (op.start_ns / cell_ns_ + 1) * cell_ns_;
        add(op.kind, std::min(op.end_ns, cell_end) - op.start_ns);
        if (op.end_ns > cell_end) {
            move_to(cell_end);
            add(op.kind, op.end_ns - cell_end);
        }
    }

    void gap_before(size_t position) {
        const int64_t from = lane_.gap_begin_ns(position), to = lane_.op(position).start_ns;
        if (to - from < cell_ns_ || to <= begin_ns_ || from >= end_ns_) return;
        close_bin(from);
        list_.gaps.push_back({extent(from, to), lane_.ops[position]});
        piece_begin_ns_ = to;
    }

    // The bin that is open becomes the one of the cell of `ns`.
    void move_to(int64_t ns) {
        const int64_t cell = ns / cell_ns_;
        if (open_ && cell == cell_) return;
        if (open_) close_bin((cell_ + 1) * cell_ns_);
        open_ = true;
        cell_ = cell;
        piece_begin_ns_ = std::max(piece_begin_ns_, cell * cell_ns_);
        first_ = true;
    }

    void add(OpKind kind, int64_t ns) {
        int64_t& sum = sums_[static_cast<size_t>(kind)];
        sum += ns;
        if (first_ || sum > sums_[static_cast<size_t>(dominant_)]) dominant_ = kind;
        first_ = false;
    }

    // What is open ends at `ns`, at the latest with its cell.
    void close_bin(int64_t ns) {
        if (!open_) return;
        open_ = false;
        const int64_t end = std::min(ns, (cell_ + 1) * cell_ns_);
        const auto length = static_cast<double>(std::max<int64_t>(1, end - piece_begin_ns_));
        const auto parts_begin = static_cast<uint32_t>(list_.parts.size());
        double busy = 0;
        for (size_t k = 0; k < kOpKinds; ++k) {
            if (sums_[k] == 0) continue;
            const double share = static_cast<double>(std::exchange(sums_[k], 0)) / length;
            list_.parts.push_back({share, static_cast<OpKind>(k)});
            busy += share;
        }
        list_.bins.push_back({extent(piece_begin_ns_, end), dominant_, std::min(1.0, busy), parts_begin,
                              static_cast<uint32_t>(list_.parts.size()) - parts_begin});
        piece_begin_ns_ = end;
    }

    // Far outside, coordinates mean nothing to a painter.
    Extent extent(int64_t from_ns, int64_t to_ns) const {
        constexpr double kOutside_px = 8;
        const double x0 = std::max(axis_.left - kOutside_px, axis_.x_of(from_ns));
        const double x1 = std::min(axis_.left + axis_.width + kOutside_px, axis_.x_of(to_ns));
        return {x0, std::max(0.0, x1 - x0)};
    }

    const Lane& lane_;
    const TimeAxis& axis_;
    LaneList& list_;
    const int64_t cell_ns_, begin_ns_, end_ns_;
    std::array<int64_t, kOpKinds> sums_{};
    OpKind dominant_ = OpKind::embed;
    bool open_ = false, first_ = true;
    int64_t cell_ = 0;
    int64_t piece_begin_ns_ = 0;  // of the open bin: later than the cell's begin after a slice or a gap
};

}  // namespace

LaneList list_of(const Lane& lane, const TimeAxis& axis) {
    LaneList list;
    list.stream = lane.stream;
    if (!lane.ops.empty()) Filler(lane, axis, list).fill();
    return list;
}

std::vector<Extent> extents_of(const Timeline& timeline, std::span<const OpId> marked, const TimeAxis& axis) {
    std::vector<Extent> extents;
    const auto first_after = [&](std::span<const OpId>::iterator from, int64_t ns) {
        return std::partition_point(from, marked.end(),
                                    [&](OpId op) { return timeline.ops[op].end_ns <= ns; });
    };
    const double right = axis.left + axis.width;
    auto at = first_after(marked.begin(), axis.begin_ns);
    while (at != marked.end() && timeline.ops[*at].start_ns < axis.end_ns) {
        const TimelineOp& op = timeline.ops[*at];
        const double x0 = std::max(axis.left, axis.x_of(op.start_ns));
        const double x1 = std::min(right, std::max(axis.x_of(op.end_ns), x0 + 1));
        if (!extents.empty() && x0 <= extents.back().x + extents.back().width) {
            Extent& last = extents.back();
            last.width = std::max(last.width, x1 - last.x);
        } else {
            extents.push_back({x0, x1 - x0});
        }
        // What ends within the pixel that is marked already adds nothing.
        at = first_after(at + 1, axis.ns_at(extents.back().x + extents.back().width) - 1);
    }
    return extents;
}

}  // namespace headroom::gui
