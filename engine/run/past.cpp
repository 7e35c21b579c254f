// The pages of the past: which unit of a pool each has, where it lies there or in a slot, and when it is
// freed.
#include "decoder/packed_pages.h"
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
    disk_pages_ = table("disk page pool", PastPlace::disk);
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

// ---- pages that are packed ----

at::Tensor Executor::State::page_scales(int half, int64_t first, int64_t count) const {
    const int64_t pages = ceil_div(plan.context.count(), plan.decisions.page.count()),
                  heads = plan.model.kv_heads;
    return view("page scales", {count, heads}, at::kFloat, ((layer_ * 2 + half) * pages + first) * heads * 4);
}

void Executor::State::write_pages(const at::Tensor& values, const at::Tensor& pages, int half,
                                  int64_t first) const {
    if (!packs_pages(plan)) {
        pages.narrow(0, 0, values.size(0)).copy_(values);
        return;
    }
    const int64_t page = plan.decisions.page.count(), count = ceil_div(values.size(0), page);
    pack_pages(values, pages.narrow(0, 0, count * page).unflatten(0, {count, page}),
               page_scales(half, first, count));
}

at::Tensor Executor::State::unpacked_piece(const PastPiece& piece, int half) const {
    const int64_t page = plan.decisions.page.count(),
                  tokens = (ceil_div(piece.last, page) - piece.first / page) * page;
    return view("gathered pages", {tokens, plan.model.kv_heads, plan.model.head_dim}, type_,
                half * tokens * plan.model.kv_size() * element());
}

void Executor::State::unpack_piece(const Op& op) {
    const int64_t page = plan.decisions.page.count();
    const PastPiece piece = piece_of(op, past_backward_);
    const int64_t first = piece.first / page, last = ceil_div(piece.last, page);
    for (int half = 0; half < 2; ++half) {
        const at::Tensor out = unpacked_piece(piece, half).unflatten(0, {last - first, page});
        const auto unpack = [&](const at::Tensor& codes, int64_t from) {
            const int64_t count = codes.size(0) / page;
            if (!packs_pages(plan)) {
                out.narrow(0, from - first, count).copy_(codes.unflatten(0, {count, page}));
                return;
            }
            unpack_pages(codes.unflatten(0, {count, page}), page_scales(half, from, count),
                         out.narrow(0, from - first, count));
        };
        if (piece.kv != PastPlace::device) {
            unpack(slot_view(PageKind::kv, kv_slots_.last_slot(), half, 0, (last - first) * page), first);
            continue;
        }
        for (const PageRun& run : pages_.runs(PageKind::kv, layer_, first, last))
            unpack(page_view(PageKind::kv, run, half), run.first);  // a page is one unit: none is smaller
    }
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
    const bool unpacked = unpacks_pages(plan);
    if (unpacked || piece.kv != PastPlace::device) {
        const int64_t before = piece.first / page * page;  // the first token of the slot
        const auto part = [&](int half, int64_t at, int64_t keys) {
            if (unpacked) return unpacked_piece(piece, half).narrow(0, at - before, keys);
            return slot_view(PageKind::kv, kv_slots_.last_slot(), half, at - before, keys);
        };
        for (int64_t at = piece.first; at < piece.last; at += segment) {
            const int64_t keys = std::min(segment, piece.last - at);
            visit(part(0, at, keys), part(1, at, keys), at, keys);
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
            for (PageTable* table : {&pages_, &host_pages_, &disk_pages_}) {
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
