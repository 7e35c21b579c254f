#include "program/past.h"

#include <algorithm>

#include "program/page_lists.h"
#include "program/page_units.h"
#include "program/selection_scratch.h"

namespace headroom {
int64_t PastFlow::longest_call(const Plan& plan) {
    const Decisions& d = plan.decisions;
    const int64_t past = (plan.chunks() - 1) * d.chunk.count();
    int64_t longest = 0;
    for (const Layer& layer : plan.model.layers) {
        const int64_t window = d.honour_windows ? layer.window : 0;
        int64_t keys = std::min(visible_past(past, window), d.segment.count());
        if (d.attention.sparse && window == 0) keys = std::min(keys, d.attention.budget * d.page.count());
        longest = std::max(longest, keys);
    }
    return longest;
}

PastFlow::PastFlow(const Plan& plan, StepBuilder& builder, LayerEmitter& emitter, Moves moves)
    : plan_(plan),
      builder_(builder),
      emitter_(emitter),
      moves_(std::move(moves)),
      page_(plan.decisions.page.count()),
      chunks_(plan.chunks()),
      layers_(plan.model.layer_count()) {
    const Decisions& d = plan.decisions;
    kv_page_ = emitter.kv_bytes(page_);
    gradient_page_ = emitter.kv_gradient_bytes(page_);
    const auto [unit, kv_units, gradient_units] = page_units(plan);
    kv_units_ = kv_units;
    gradient_units_ = gradient_units;
    unpack_ = unpacks_pages(plan);
    stored_.assign(static_cast<size_t>(layers_), kNone);
    past_stored_ = stored_;
    gradients_stored_.assign(static_cast<size_t>(layers_), kNone);
    kv_held_.assign(static_cast<size_t>(layers_ * chunks_), false);
    gradients_held_.assign(static_cast<size_t>(layers_), {});
    spare_ = gradients_held_;
    pools_[0] = builder.pool("page pool", Tier::device, unit);
    pools_[1] = builder.pool("host page pool", Tier::host, unit);
    pools_[2] = builder.pool("disk page pool", Tier::disk, unit);

    const int64_t chunk = std::min(d.chunk.count(), plan.context.count());
    const int64_t longest_past = (chunks_ - 1) * d.chunk.count();
    if (longest_past == 0) return;
    const bool packs = packs_pages(plan);
    if (packs) {
        builder.buffer("page scales", Tier::device, Category::page_tables, page_scale_bytes(plan).count());
    }
    int64_t visible_most = 0;
    bool any_dense = false, any_sparse = false;
    for (int64_t l = 0; l < layers_; ++l) {
        const Layer& layer = plan.model.layers[static_cast<size_t>(l)];
        if (selects_pages(plan, l)) {
            any_sparse = true;
        } else {
            any_dense = true;
            visible_most =
                std::max(visible_most, visible_past(longest_past, d.honour_windows ? layer.window : 0));
        }
    }
    int64_t slot_tokens = any_dense ? std::min(past_piece_tokens(plan), round_up(visible_most, page_)) : 0;
    int64_t emission = slot_tokens, gathered = any_dense && unpack_ ? slot_tokens : 0;
    if (any_sparse) {
        const Attention& a = d.attention;
        const int64_t blocks = ceil_div(chunk, std::min(a.block, chunk));
        const int64_t past_pages = longest_past / page_;
        const int64_t bound = most_selected(plan, past_pages);
        slot_tokens = std::max(slot_tokens, bound * page_);
        const int64_t gathered_pages = blocks * std::min(a.budget, past_pages);
        emission = std::max(emission, gathered_pages * page_);
        gathered = std::max(gathered, gathered_pages * page_);
        const int64_t pages = ceil_div(plan.context.count(), page_);
        const RankSizes& s = emitter.sizes();
        builder.buffer("page vectors", Tier::device, Category::selection, pages * s.kv * s.element * layers_);
        const int64_t selections = selection_layout(plan).bytes(layers_);
        builder.buffer("selections", Tier::device, Category::selection, selections);
        builder.buffer("host selections", Tier::host, Category::selection, selections);
        if (limits_waiting(plan, past_pages))
            builder.buffer("host votes", Tier::host, Category::selection, blocks * past_pages * 4);
        const int64_t own_pages = pages_of(chunk), emitted = gathered_pages * gradient_units_;
        // Beside the pages that a chunk selects, those that the page cache gives up for them.
        const int64_t travelling = std::max(bound + std::min(bound, cache_pages(plan).gradient), own_pages) *
                                   std::max(kv_units_, gradient_units_);
        const int64_t list =
            round_up(std::max({gather_list_bytes(gathered_pages * kv_units_, packs),
                               sum_list_bytes(bound * gradient_units_, emitted),
                               own_sum_list_bytes(own_pages * gradient_units_), copy_list_bytes(travelling)}),
                     kAlignment);
        builder.buffer("page lists", Tier::host, Category::page_tables, kPageLists * list);
        // The one in work: many thread blocks read each of its entries.
        builder.buffer("page list", Tier::device, Category::page_tables, list);
        builder.buffer("scores", Tier::device, Category::selection,
                       selection_scratch_bytes(chunk, std::min(a.block, chunk), s.kv_heads, past_pages));
    }
    emitter.reserve_past(emission, gathered);
    bool kv_travels = false, gradients_travel = false;
    for (int64_t l = 0; l < layers_; ++l) {
        kv_travels = kv_travels || !stays(d.kv_residency, l);
        gradients_travel = gradients_travel || !stays(d.kv_gradient_residency, l);
    }
    if (kv_travels) {
        kv_ = Stager(builder, "staged pages", Category::staging, emitter.kv_bytes(slot_tokens),
                     d.staging_slots, d.prefetch);
        own_ = Stager(builder, "own pages", Category::staging, emitter.kv_bytes(round_up(chunk, page_)),
                      d.wavefront + 1, d.wavefront);
    }
    if (gradients_travel) {
        // Beside the sums of the pages that a chunk uses, those that the page cache gives up for them.
        const int64_t given_up = any_sparse ? std::min(slot_tokens / page_, cache_pages(plan).gradient) : 0;
        gradient_ =
            Stager(builder, "staged page gradients", Category::staging,
                   emitter.kv_gradient_bytes(slot_tokens + given_up * page_), d.staging_slots, d.prefetch);
        own_gradient_ = Stager(builder, "own page gradients", Category::staging,
                               emitter.kv_gradient_bytes(round_up(chunk, page_)), 2, 1);
    }
    if (d.kv_residency.disk_chunks > 0 || d.kv_gradient_residency.disk_chunks > 0) {
        const int64_t most =
            std::max(slot_tokens, round_up(chunk, page_));  // a piece, or a chunk's own pages
        const int64_t bounce = std::max(emitter.kv_bytes(most), emitter.kv_gradient_bytes(most));
        for (int64_t i = 0; i < kDiskBounceSlots; ++i) {
            builder.buffer("disk bounce slot " + std::to_string(i), Tier::host, Category::staging, bounce,
                           kDiskAlignment);
        }
        disk_bounce_.assign(kDiskBounceSlots, kNone);
    }
    if (d.page_cache.count() > 0 && any_sparse) {
        builder.buffer("page cache", Tier::device, Category::page_cache, d.page_cache.count());
    }
    // One entry of 4 bytes for each of K, V, dK, dV of a page and layer.
    builder.buffer("page tables", Tier::device, Category::page_tables,
                   ceil_div(plan.context.count(), page_) * layers_ * 4 * 4);
}

void PastFlow::begin_sequence() {
    // Dense: a chunk's gradient reaches every key before it, from the last chunk on.
    touched_from_.assign(
        static_cast<size_t>(layers_),
        plan_.decisions.gradient_pages == GradientPages::all_at_once ? 0 : plan_.context.count());
}

const PageMoves& PastFlow::moves(int64_t chunk, int64_t layer) const {
    return (*moves_)[static_cast<size_t>(layer) % moves_->size()][static_cast<size_t>(chunk)];
}

int64_t PastFlow::visible(int64_t chunk, int64_t layer) const {
    return visible_past(plan_, chunk, layer);
}

PastFlow::Place PastFlow::place(const Residency& r, int64_t layer, int64_t token) const {
    return past_place(plan_, r, layer, token);
}

bool PastFlow::stays(const Residency& r, int64_t layer) const {
    return Plan::device_layer(r, layer, layers_) || r.device_chunks >= chunks_ - 1;
}

bool PastFlow::is_read(int64_t chunk, int64_t layer) const {
    return chunk + 1 < chunks_ && visible(chunk + 1, layer) > 0;
}

int64_t PastFlow::attended_pages(int64_t chunk, int64_t layer) const {
    // The next chunk reaches back furthest. Chunks that have a next one are whole, so their pages end with
    // them.
    return pages_of(std::min(plan_.chunk_tokens(chunk), visible(chunk + 1, layer)));
}

uint32_t PastFlow::page_copy(WorkKind direction, int64_t pages, int64_t page_bytes, int64_t runs) {
    if (pages == 0) return builder_.work(Work{});
    // K and V of a run of pages are two pieces.
    const int64_t chunk = std::max<int64_t>(1, plan_.decisions.chunk.count() / page_);
    if (runs == 0) runs = plan_.decisions.attention.sparse ? pages : ceil_div(pages, chunk);
    return builder_.work(
        copy(direction, pages * page_bytes, 2 * std::min(runs, pages), plan_.decisions.page_copy));
}

OpId PastFlow::load_mixed(Stager& stager, OpKind kind, int64_t host_pages, int64_t disk_pages,
                          int64_t page_bytes, OpId wait, int64_t piece, OpId wait2, int64_t runs) {
    OpId read = kNone;
    if (plan_.decisions.kv_residency.disk_chunks > 0 ||
        plan_.decisions.kv_gradient_residency.disk_chunks > 0) {
        // By way of a bounce slot on the host, whose last user must be done.
        OpId& bounce = disk_bounce_[next_bounce_++ % disk_bounce_.size()];
        read = builder_.op(
            Stream::disk, OpKind::read_pages,
            builder_.work(disk_pages > 0 ? disk(WorkKind::disk_read, disk_pages * page_bytes) : Work{}),
            {bounce, wait, wait2, stager.not_before()}, piece);
        const OpId op = builder_.op(Stream::to_device, kind,
                                    page_copy(WorkKind::copy_to_device, host_pages + disk_pages, page_bytes,
                                              runs > 0 ? runs + disk_pages : 0),
                                    {stager.free_after(), stager.not_before(), wait, wait2, read}, piece);
        bounce = op;
        return op;
    }
    return stager.load(Stream::to_device, kind,
                       page_copy(WorkKind::copy_to_device, host_pages, page_bytes, runs), wait, piece, wait2);
}

OpId PastFlow::load(Stager& stager, OpKind kind, Place from, int64_t pages, int64_t page_bytes, OpId wait,
                    int64_t piece) {
    return load_mixed(stager, kind, from == Place::host ? pages : 0, from == Place::disk ? pages : 0,
                      page_bytes, wait, piece);
}

OpId PastFlow::store_mixed(OpKind kind, int64_t host_pages, int64_t disk_pages, int64_t page_bytes, OpId wait,
                           int64_t runs) {
    const bool any_disk = !disk_bounce_.empty();
    OpId* bounce = any_disk ? &disk_bounce_[next_bounce_++ % disk_bounce_.size()] : nullptr;
    const OpId op = builder_.op(Stream::to_host, kind,
                                page_copy(WorkKind::copy_to_host, host_pages + disk_pages, page_bytes, runs),
                                {wait, bounce ? *bounce : kNone});
    if (any_disk) {
        *bounce = builder_.op(
            Stream::disk, OpKind::write_pages,
            builder_.work(disk_pages > 0 ? disk(WorkKind::disk_write, disk_pages * page_bytes) : Work{}),
            {op});
    }
    return op;
}

OpId PastFlow::store(OpKind kind, Place to, int64_t pages, int64_t page_bytes, OpId wait, int64_t runs) {
    return store_mixed(kind, to == Place::host ? pages : 0, to == Place::disk ? pages : 0, page_bytes, wait,
                       runs);
}

OpId PastFlow::kv_stored(int64_t layer) const {
    return (builder_.pass == Pass::fill ? past_stored_ : stored_)[static_cast<size_t>(layer)];
}

OpId PastFlow::own_gradients_stored(int64_t layer) const {
    const bool cached = plan_.decisions.page_cache.count() > 0 && selects_pages(plan_, layer);
    return cached ? gradients_stored_[static_cast<size_t>(layer)] : gradients_stored_before_;
}

OpId PastFlow::append_wait(int64_t layer, int64_t chunk) const {
    const bool travels =
        is_read(chunk, layer) && place(plan_.decisions.kv_residency, layer, past(chunk)) != Place::device;
    return travels ? own_.free_after() : kNone;
}

void PastFlow::append(int64_t chunk, int64_t layer, OpId rope) {
    past_stored_[static_cast<size_t>(layer)] = stored_[static_cast<size_t>(layer)];
    if (!is_read(chunk, layer)) return;
    const Place to = place(plan_.decisions.kv_residency, layer, past(chunk));
    if (to == Place::device) return take_kv(to, chunk, layer, rope);
    const int64_t pages = pages_of(plan_.chunk_tokens(chunk));
    const OpId op = store(OpKind::store_pages, to, pages, kv_page_, rope, 1);  // a chunk's lie side by side
    take_kv(to, chunk, layer, op, rope);
    own_.used(op);
    stored_[static_cast<size_t>(layer)] = op;
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    row.written_back = static_cast<uint32_t>(pages);
    row.written_bytes = pages * kv_page_;
    builder_.traffic(row);
}

void PastFlow::forward(int64_t chunk, int64_t layer, bool known) {
    if (chunk == 0) return;
    if (selects_pages(plan_, layer)) {
        sparse_forward(chunk, layer, known);
    } else {
        dense_forward(chunk, layer);
    }
}

void PastFlow::backward(int64_t chunk, int64_t layer) {
    gradients_stored_before_ = gradients_stored_[static_cast<size_t>(layer)];
    if (chunk == 0) return;
    if (selects_pages(plan_, layer)) {
        sparse_backward(chunk, layer);
    } else {
        dense_backward(chunk, layer);
    }
}

void PastFlow::own_gradients(int64_t chunk, int64_t layer) {
    if (chunk + 1 >= chunks_) return;  // no later chunk attended it
    const Decisions& d = plan_.decisions;
    const bool is_sparse = selects_pages(plan_, layer);
    const Place from = place(d.kv_gradient_residency, layer, past(chunk));
    const bool whole_layer = stays(d.kv_gradient_residency, layer);
    const int64_t read_pages = is_sparse ? moves(chunk, layer).own_touched : attended_pages(chunk, layer);
    if (!whole_layer && (is_sparse || from != Place::device)) {
        const int64_t host =
            is_sparse ? moves(chunk, layer).own_host : (from == Place::host ? read_pages : 0);
        const int64_t on_disk =
            is_sparse ? moves(chunk, layer).own_disk : (from == Place::disk ? read_pages : 0);
        emitter_.await(load_mixed(own_gradient_, OpKind::load_page_gradients, host, on_disk, gradient_page_,
                                  own_gradients_stored(layer), 0, kNone,
                                  is_sparse ? moves(chunk, layer).own_runs : 0));
        own_gradient_.used(emitter_.accumulate(0, read_pages * page_, false, 0));
        return;
    }
    emitter_.accumulate(0, read_pages * page_, false, 0);
}

}  // namespace headroom
