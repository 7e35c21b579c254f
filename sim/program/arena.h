// Addresses: every buffer gets its place in the one arena of its tier before the step runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

// A request for memory whose place may be shared with requests it never lives beside.
struct Packable {
    int64_t bytes = 0;
    std::vector<uint64_t> conflicts;  // bit j set: lives at some time together with request j; symmetric
};

struct Packing {
    std::vector<int64_t> addresses;  // by request, multiples of the alignment
    int64_t bytes = 0;               // end of the highest
};

// Greedy by size: the largest request first, each at the lowest address where it meets no conflict placed
// before. Ties by index. Never below the largest sum that lives at once; docs/decisions has how near it
// comes. Cost: O(n^2 log n) for n requests.
Packing pack(std::span<const Packable> requests, int64_t alignment);

}  // namespace headroom
