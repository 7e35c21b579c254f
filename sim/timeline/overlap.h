// Sets of time intervals, as sorted lists. Private to the room.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

// begin_ns < end_ns.
struct Interval {
    int64_t begin_ns = 0, end_ns = 0;
    bool operator==(const Interval&) const = default;
};

// Contract of the lists: ascending, disjoint (neighbours may touch). Cost: linear in both.
int64_t overlap_ns(std::span<const Interval> a, std::span<const Interval> b);
int64_t length_ns(std::span<const Interval> list);
// What at least one of the lists covers. Cost: items x lists.
std::vector<Interval> union_of(std::span<const std::vector<Interval>> lists);

}  // namespace headroom
