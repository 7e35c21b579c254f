#include "program/arena.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/units.h"

namespace headroom {

Packing pack(std::span<const Packable> requests, int64_t alignment) {
    Packing packing;
    packing.addresses.assign(requests.size(), 0);
    std::vector<size_t> order(requests.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });

    std::vector<size_t> placed;
    std::vector<std::pair<int64_t, int64_t>> taken;  // [begin, end) of conflicting requests
    for (const size_t i : order) {
        taken.clear();
        for (const size_t j : placed) {
            if ((requests[i].conflicts[j / 64] >> (j % 64)) & 1) {
                taken.emplace_back(packing.addresses[j], packing.addresses[j] + requests[j].bytes);
            }
        }
        std::sort(taken.begin(), taken.end());
        int64_t address = 0;
        for (const auto& [begin, end] : taken) {
            if (address + requests[i].bytes <= begin) break;
            address = std::max(address, round_up(end, alignment));
        }
        packing.addresses[i] = address;
        packing.bytes = std::max(packing.bytes, round_up(address + requests[i].bytes, alignment));
        placed.push_back(i);
    }
    return packing;
}

}  // namespace headroom
