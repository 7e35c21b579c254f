// The pages that live in the pools: K and V and sums of dK and dV, from when they are taken until they are
// freed, and the room that is kept beside them.
#include <algorithm>
#include <cmath>

#include "program/past.h"

namespace headroom {

// A run may select more pages than were drawn, but none behind the chunk in work, and with a limit no more
// than that: then there is room for all that the chunks so far can have selected.
void PastFlow::hold_gradients(Place place, int64_t layer, int64_t pages) {
    const auto li = static_cast<size_t>(layer), at = static_cast<size_t>(place);
    int64_t& held = gradients_held_[li][at];
    held += pages;
    const double spread = plan_.selection.spread;
    const int64_t waiting = plan_.decisions.attention.waiting;
    const bool drawn =
        selects_pages(plan_, layer) && plan_.decisions.gradient_pages == GradientPages::first_touch;
    if ((spread == 0 && waiting == 0) || !drawn) return;
    const auto chunk = static_cast<int64_t>(builder_.chunk);
    int64_t most = past(chunk + 1) / page_;
    auto wanted = static_cast<int64_t>(std::ceil(spread * static_cast<double>(held)));
    if (waiting > 0) most = std::min(most, waiting);
    if (waiting > 0 && spread > 0)
        wanted = std::max(wanted, (chunks_ - chunk) * most_selected(plan_, past(chunk) / page_) - held);
    const int64_t spare = std::clamp<int64_t>(wanted, 0, std::max<int64_t>(0, most - held));
    spare_in_all_[at] += spare - spare_[li][at];
    spare_[li][at] = spare;
    // Within a step a chunk's own pages are there beside those that it selected.
    const int64_t own = waiting > 0 ? pages_of(plan_.decisions.chunk.count()) : 0;
    builder_.pool_spare(pool_of(place), (spare_in_all_[at] + own) * gradient_units_);
}

void PastFlow::take_gradients(Place place, int64_t layer, int64_t pages, OpId op, OpId after) {
    hold_gradients(place, layer, pages);
    builder_.pool_take(pool_of(place), Category::kv_gradients, pages * gradient_units_, op, after);
}

void PastFlow::free_gradients(Place place, int64_t layer, int64_t pages, OpId op) {
    const int64_t freed =
        std::min(pages, gradients_held_[static_cast<size_t>(layer)][static_cast<size_t>(place)]);
    hold_gradients(place, layer, -freed);
    builder_.pool_free(pool_of(place), Category::kv_gradients, freed * gradient_units_, op);
}

void PastFlow::take_kv(Place place, int64_t chunk, int64_t layer, OpId op, OpId after) {
    kv_held_[static_cast<size_t>(layer * chunks_ + chunk)] = true;
    builder_.pool_take(pool_of(place), Category::kv, pages_of(plan_.chunk_tokens(chunk)) * kv_units_, op,
                       after);
}

void PastFlow::free_kv(int64_t chunk, int64_t layer, OpId op) {
    if (!kv_held_[static_cast<size_t>(layer * chunks_ + chunk)]) return;
    kv_held_[static_cast<size_t>(layer * chunks_ + chunk)] = false;
    const Place from = place(plan_.decisions.kv_residency, layer, past(chunk));
    builder_.pool_free(pool_of(from), Category::kv, pages_of(plan_.chunk_tokens(chunk)) * kv_units_, op);
}

void PastFlow::close(int64_t chunk, int64_t layer, OpId op) {
    const Decisions& d = plan_.decisions;
    // This chunk was the last to read the K and V of the one before it.
    if (chunk > 0) free_kv(chunk - 1, layer, op);
    const bool last =
        chunk + 1 >= chunks_;  // nobody attends it: it has gradient pages only where all are made at once
    const bool at_once = d.gradient_pages == GradientPages::all_at_once && chunks_ > 1;
    if (last && !at_once) return;
    if (at_once || !selects_pages(plan_, layer)) {
        const Place p = place(d.kv_gradient_residency, layer, past(chunk));
        const int64_t pages = at_once ? pages_of(plan_.chunk_tokens(chunk)) : attended_pages(chunk, layer);
        return free_gradients(p, layer, pages, op);
    }
    const PageMoves& m = moves(chunk, layer);
    if (stays(d.kv_gradient_residency, layer)) {
        return free_gradients(Place::device, layer, m.own_touched, op);
    }
    free_gradients(Place::device, layer, m.freed_device, op);
    free_gradients(Place::host, layer, m.freed_host, op);
    free_gradients(Place::disk, layer, m.freed_disk, op);
}

void PastFlow::drop_layer(int64_t layer, std::span<const int64_t> chunks, OpId op) {
    for (const int64_t c : chunks) free_kv(c, layer, op);
}

void PastFlow::begin_gradients() {
    if (plan_.decisions.gradient_pages != GradientPages::all_at_once || chunks_ == 1) return;
    for (int64_t l = 0; l < layers_; ++l) {
        builder_.layer = static_cast<uint16_t>(l);
        std::array<int64_t, 3> pages{};
        for (int64_t c = 0; c < chunks_; ++c) {
            const Place p = place(plan_.decisions.kv_gradient_residency, l, past(c));
            pages[static_cast<size_t>(p)] += pages_of(plan_.chunk_tokens(c));
        }
        const OpId op = emitter_.compute(
            OpKind::zero, builder_.work(memory_bound(pages[0] * gradient_page_, Kernel::zero)));
        for (size_t p = 0; p < pages.size(); ++p) take_gradients(static_cast<Place>(p), l, pages[p], op);
    }
}

}  // namespace headroom
