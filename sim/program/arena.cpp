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

    std::vector<size_t> placed;  // in the order of addresses
    for (const size_t i : order) {
        int64_t address = 0;
        const std::vector<uint64_t>& conflicts = requests[i].conflicts;
        for (const size_t j : placed) {
            if (((conflicts[j / 64] >> (j % 64)) & 1) == 0) continue;
            if (address + requests[i].bytes <= packing.addresses[j]) break;
            address = std::max(address, round_up(packing.addresses[j] + requests[j].bytes, alignment));
        }
        packing.addresses[i] = address;
        packing.bytes = std::max(packing.bytes, round_up(address + requests[i].bytes, alignment));
        const auto after = std::upper_bound(placed.begin(), placed.end(), address,
                                            [&](int64_t at, size_t j) { return at < packing.addresses[j]; });
        placed.insert(after, i);
    }
    return packing;
}

}  // namespace headroom
