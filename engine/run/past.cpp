// The pages of the past: which unit of a pool each has, where it lies there or in a slot, and when it is
// freed.
#include "run/step_state.h"

namespace headroom::engine {

void Executor::State::make_page_tables() {
    const Decisions& d = plan.decisions;
    const int64_t layers = plan.model.layer_count();
    const int64_t pages = paged_chunks(plan) * d.chunk.count() / d.page.count();
    const auto table = [&](const std::string& pool, PastPlace place) {
        const Buffer* b = find(pool);
        const auto lives_here = [&](PageKind kind, int64_t layer, int64_t page) {
            const Residency& r = kind == PageKind::kv ? d.kv_residency : d.kv_gradient_residency;
            return past_place(plan, r, layer, page * d.page.count()) == place;
        };
        return PageTable(layers, pages, b == nullptr ? 0 : b->bytes / units_.bytes, lives_here, pool,
                         {units_.kv, units_.gradient});
    };
    pages_ = table("page pool", PastPlace::device);
    host_pages_ = table("host page pool", PastPlace::host);
}

std::byte* Executor::State::unit_in(const std::string& buffer, int64_t unit, int half) const {
    const Buffer& b = need(buffer);
    TORCH_CHECK((unit + 1) * unit_bytes() <= b.bytes / 2, "unit ", unit, " of '", buffer, "', which has ",
                b.bytes, " bytes");
    return data(b) + half * (b.bytes / 2) + unit * unit_bytes();
}

at::Tensor Executor::State::page_view(PageKind kind, const PageRun& run, int half) const {
    const Decisions& d = plan.decisions;
    const at::ScalarType type = scalar_type(kind == PageKind::kv ? d.kv : d.kv_gradients);
    return view("page pool", {run.count * unit_tokens(kind), plan.model.kv_heads, plan.model.head_dim}, type,
                half * (need("page pool").bytes / 2) + run.unit * unit_bytes());
}

at::Tensor Executor::State::slot_view(PageKind kind, const std::string& slot, int half, int64_t first,
                                      int64_t tokens) const {
    const Decisions& d = plan.decisions;
    const at::ScalarType type = scalar_type(kind == PageKind::kv ? d.kv : d.kv_gradients);
    const int64_t token = plan.model.kv_size() * static_cast<int64_t>(c10::elementSize(type));
    return view(slot, {tokens, plan.model.kv_heads, plan.model.head_dim}, type,
                half * (need(slot).bytes / 2) + first * token);
}

PastPlace Executor::State::kv_place(int64_t chunk) const {
    return past_place(plan, plan.decisions.kv_residency, layer_, chunk * plan.decisions.chunk.count());
}

PastPlace Executor::State::gradient_place(int64_t chunk) const {
    return past_place(plan, plan.decisions.kv_gradient_residency, layer_,
                      chunk * plan.decisions.chunk.count());
}

PastPiece Executor::State::piece_of(const Op& op, bool backward) const {
    return past_pieces(plan, chunk_, layer_, backward, touched_from_[static_cast<size_t>(layer_)])
        .at(op.piece);
}

void Executor::State::visit_past(
    const PastPiece& piece,
    const std::function<void(const at::Tensor&, const at::Tensor&, int64_t, int64_t)>& visit) const {
    const int64_t page = plan.decisions.page.count(), segment = plan.decisions.segment.count();
    if (piece.kv != PastPlace::device) {
        const int64_t before = piece.first / page * page;  // the first token of the slot
        for (int64_t at = piece.first; at < piece.last; at += segment) {
            const int64_t keys = std::min(segment, piece.last - at);
            visit(slot_view(PageKind::kv, kv_slots_.last_slot(), 0, at - before, keys),
                  slot_view(PageKind::kv, kv_slots_.last_slot(), 1, at - before, keys), at, keys);
        }
        return;
    }
    for (const PageRun& run :
         pages_.runs(PageKind::kv, layer_, piece.first / page, ceil_div(piece.last, page))) {
        const at::Tensor k = page_view(PageKind::kv, run, 0), v = page_view(PageKind::kv, run, 1);
        const int64_t begin = run.first * unit_tokens(PageKind::kv), first = std::max(piece.first, begin),
                      last = std::min(piece.last, begin + k.size(0));
        for (int64_t at = first; at < last; at += segment) {
            const int64_t keys = std::min(segment, last - at), within = at - begin;
            visit(k.narrow(0, within, keys), v.narrow(0, within, keys), at, keys);
        }
    }
}

// The chunk is done with this layer: K and V of the chunk before it have no reader left, nor have its own
// sums.
void Executor::State::close_chunk() {
    const int64_t page = plan.decisions.page.count(), size = plan.decisions.chunk.count();
    const auto free_chunk = [&](PageKind kind, int64_t chunk) {
        const int64_t first = chunk * size / page, last = first + ceil_div(plan.chunk_tokens(chunk), page);
        for (int64_t p = first; p < last; ++p) {
            for (PageTable* table : {&pages_, &host_pages_}) {
                if (table->has(kind, layer_, p)) table->free(kind, layer_, p);
            }
            PageCache& cache = gradient_cache_[static_cast<size_t>(layer_)];
            if (kind == PageKind::gradient && cache.holds(static_cast<uint32_t>(p)))
                cache.drop(static_cast<uint32_t>(p));
        }
    };
    if (chunk_ > 0) free_chunk(PageKind::kv, chunk_ - 1);
    if (chunk_ + 1 < plan.chunks()) free_chunk(PageKind::gradient, chunk_);
}

}  // namespace headroom::engine
