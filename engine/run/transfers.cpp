// The ops that copy between the tiers: pages, attention outputs, layer inputs.
#include "run/step_state.h"

namespace headroom::engine {

Result<void> Executor::State::issue_copies() {
    if (arena.is_cpu()) {
        copies_.run();
        return {};
    }
    return copies_.issue(streams->stream(), plan.decisions.page_copy == PageCopy::loop);
}

void Executor::State::add_page_copies(PageKind kind, int64_t first, int64_t last, const std::string& slot,
                                      bool to_slot) {
    const PageTable& home = home_of(kind, first);
    for (int half = 0; half < 2; ++half) {
        for (const PageRun& run : home.runs(kind, layer_, first, last)) {
            const int64_t place = run.first - first * home.parts(kind);
            std::byte* const here = unit_in(slot, place, half);
            std::byte* const there = away(home, run.unit, place, half);
            copies_.add(to_slot ? here : there, to_slot ? there : here, run.count * unit_bytes());
            if (!to_slot && &home == &disk_pages_) add_disk_piece(run.unit, run.count, place, half);
            (to_slot ? loaded_page_bytes : stored_page_bytes) += run.count * unit_bytes();
        }
    }
}

// A piece's; or, where no gradients were just emitted, the chunk's own sums.
std::pair<int64_t, int64_t> Executor::State::pages_of_load(const Op& op) const {
    const int64_t page = plan.decisions.page.count(), own = chunk_first() / page;
    const bool kv = op.kind == OpKind::load_pages;
    if (!kv && !emitted_) return {own, own + ceil_div(rows_, page)};
    const PastPiece piece = piece_of(op, kv ? past_backward_ : true);
    return {piece.first / page, ceil_div(piece.last, page)};
}

Result<void> Executor::State::load_pages(const Op& op) {
    if (selects_pages(plan, layer_)) return load_selected(op);
    const auto [first, last] = pages_of_load(op);
    copies_.clear();
    add_page_copies(PageKind::kv, first, last, kv_slots_.next(), true);
    return issue_copies();
}

void Executor::State::begin_store() {
    copies_.clear();
    disk_pieces_.clear();
    if (uses_disk()) bounce_slots_.next();
}

// The chunk's own K and V, from the slot that its rope wrote to.
Result<void> Executor::State::store_pages() {
    const int64_t page = plan.decisions.page.count(), first = chunk_first() / page,
                  last = first + ceil_div(rows_, page);
    for (int64_t p = first; p < last; ++p)
        HEADROOM_CHECK(home_of(PageKind::kv, p).take(PageKind::kv, layer_, p));
    begin_store();
    add_page_copies(PageKind::kv, first, last, own_slots_.next(), false);
    return issue_copies();
}

// Of the piece whose gradients were just emitted; or, where none were, the chunk's own.
Result<void> Executor::State::load_page_gradients(const Op& op) {
    if (selects_pages(plan, layer_))
        return emitted_ ? load_selected_gradients(op) : load_own_selected_gradients(op);
    const auto [first, last] = pages_of_load(op);
    copies_.clear();
    add_page_copies(PageKind::gradient, first, last,
                    emitted_ ? gradient_slots_.next() : own_gradient_slots_.next(), true);
    return issue_copies();
}

Result<void> Executor::State::store_page_gradients() {
    if (selects_pages(plan, layer_)) return store_selected_gradients();
    const int64_t page = plan.decisions.page.count(), first = summed_.first / page,
                  last = ceil_div(summed_.last, page);
    for (int64_t p = first; p < last && summed_fresh_; ++p)
        HEADROOM_CHECK(home_of(PageKind::gradient, p).take(PageKind::gradient, layer_, p));
    const std::string slot = summed_fresh_ ? gradient_slots_.next() : gradient_slots_.last_slot();
    begin_store();
    add_page_copies(PageKind::gradient, first, last, slot, false);
    return issue_copies();
}

Result<void> Executor::State::move_buffer(const std::string& to, int64_t to_offset, const std::string& from,
                                          int64_t from_offset, int64_t bytes) {
    const Buffer &target = need(to), &source = need(from);
    TORCH_CHECK(to_offset + bytes <= target.bytes && from_offset + bytes <= source.bytes, "'", from,
                "' does not fit '", to, "'");
    copies_.clear();
    copies_.add(data(target) + to_offset, data(source) + from_offset, bytes);
    return issue_copies();
}

// Where attention was kept from the fill pass on the device, the layer's buffer gets it; before, where layer
// inputs go to the host, the slot that they leave from gets this one's.
void Executor::State::keep_outputs_or_inputs() {
    if (before_ == OpKind::rope) {
        const auto kept = attention_in("attention outputs of the fill pass", output_offset());
        layer_views().attention.copy_(kept.first);
        layer_views().lse.copy_(kept.second);
        return;
    }
    rows(input_out_slots_.slot(), plan.model.hidden).copy_(layer_views().x);
}

}  // namespace headroom::engine
