// The dense past of a chunk, cut into what one op attends: the lowering and the engine cut alike.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace headroom {

// Buffers on the host that pages pass through on their way from and to the disk, used in turn by each load
// and each store of a plan that has pages there. Aligned as direct access to a disk asks for.
inline constexpr int64_t kDiskBounceSlots = 2;
inline constexpr int64_t kDiskAlignment = 4096;

enum class PastPlace : uint8_t { device, host, disk };

// Tokens [first, last) of one layer's past, all in the same tier.
struct PastPiece {
    int64_t first, last;
    PastPlace kv, gradient;
    bool touched;  // gradient sums exist
};

// Where K and V (or dK and dV) of a token of `layer` live.
PastPlace past_place(const Plan& plan, const Residency& residency, int64_t layer, int64_t token);
// Tokens of the pieces that a dense past travels in: as many whole segments (else whole pages) as a slot
// holds.
int64_t past_piece_tokens(const Plan& plan);
// Whether a layer attends selected pages of its past, not all that its window lets it see.
bool selects_pages(const Plan& plan, int64_t layer);
// The most distinct pages that the blocks of one chunk can select in a layer, of so many.
int64_t most_selected(const Plan& plan, int64_t past_pages);
// How many tokens before `chunk` any of its queries sees in `layer`.
int64_t visible_past(const Plan& plan, int64_t chunk, int64_t layer);
// The pieces in order of tokens; an op's `piece` is the index. `touched_from`: gradient pages exist from this
// token on (backward passes: the earliest token that a later chunk attended). Cost: O(pieces).
std::vector<PastPiece> past_pieces(const Plan& plan, int64_t chunk, int64_t layer, bool backward,
                                   int64_t touched_from);

}  // namespace headroom
