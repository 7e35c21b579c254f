// Lists of pages (addresses of what a kernel gathers, sums or copies), written by the host and read by the
// kernel where they lie: planner and engine count their bytes alike. Units: page_units.h.
#pragma once

#include <cstdint>

namespace headroom {

// So many lists wait for their kernels on the host, each as large as one chunk and layer can need: so far
// the host runs ahead of the device.
inline constexpr int64_t kPageLists = 64;

// Source and target of K and of V of each unit that is gathered, and, of packed pages, of their scales.
inline int64_t gather_list_bytes(int64_t units, bool packed) {
    return units * (packed ? 6 : 4) * 8;
}
// Of each unit that is summed to: its dK and its dV, where its emissions begin (and end), whether it is a
// fresh one; and each unit emitted for it.
inline int64_t sum_list_bytes(int64_t units, int64_t emitted) {
    return units * (2 * 8 + 4 + 1) + 4 + emitted * 4;
}
// Of dK and of dV of each unit of a chunk's own pages: source, target, tokens.
inline int64_t own_sum_list_bytes(int64_t units) {
    return 2 * units * (2 * 8 + 4);
}
// Source and target of both halves of each unit that a kernel copies.
inline int64_t copy_list_bytes(int64_t units) {
    return 2 * units * 2 * 8;
}

}  // namespace headroom
