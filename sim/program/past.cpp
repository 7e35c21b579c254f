#include "program/past.h"

#include <algorithm>

namespace headroom {
namespace {

constexpr int64_t kBounceSlots = 2;

bool any_off_device(const Residency& r, int64_t layers, int64_t chunks) {
    return r.device_layers < layers && r.device_chunks < chunks;
}

}  // namespace

bool PastFlow::sparse(const Layer& layer) const {
    return plan_.decisions.attention.sparse && (layer.window == 0 || !plan_.decisions.honour_windows);
}

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
    : plan_(plan), builder_(builder), emitter_(emitter), moves_(std::move(moves)), page_(plan.decisions.page.count()),
      chunks_(plan.chunks()), layers_(plan.model.layer_count()) {
    const Decisions& d = plan.decisions;
    kv_page_ = emitter.kv_bytes(page_);
    gradient_page_ = emitter.kv_gradient_bytes(page_);
    const int64_t unit = std::min(kv_page_, gradient_page_);
    kv_units_ = ceil_div(kv_page_, unit);
    gradient_units_ = ceil_div(gradient_page_, unit);
    unpack_ = bytes_of(d.kv, 1) != bytes_of(d.weights, 1);
    stored_.assign(static_cast<size_t>(layers_), kNone);
    gradients_stored_.assign(static_cast<size_t>(layers_), kNone);
    kv_held_.assign(static_cast<size_t>(layers_ * chunks_), false);
    gradients_held_.assign(static_cast<size_t>(layers_), {});
    pools_[0] = builder.pool("page pool", Tier::device, unit);
    pools_[1] = builder.pool("host page pool", Tier::host, unit);
    pools_[2] = builder.pool("disk page pool", Tier::disk, unit);

    const int64_t chunk = std::min(d.chunk.count(), plan.context.count());
    const int64_t longest_past = (chunks_ - 1) * d.chunk.count();
    if (longest_past == 0) return;
    int64_t visible_most = 0;
    bool any_dense = false, any_sparse = false;
    for (int64_t l = 0; l < layers_; ++l) {
        const Layer& layer = plan.model.layers[static_cast<size_t>(l)];
        if (sparse(layer)) {
            any_sparse = true;
        } else {
            any_dense = true;
            visible_most = std::max(visible_most, visible_past(longest_past, d.honour_windows ? layer.window : 0));
        }
    }
    // Pieces: as many whole segments (else whole pages) as a slot holds.
    const int64_t slot_pages = std::max<int64_t>(1, d.staging_slot.count() / kv_page_);
    const int64_t segment_pages = ceil_div(d.segment.count(), page_);
    piece_tokens_ = (slot_pages >= segment_pages ? slot_pages / segment_pages * segment_pages : slot_pages) * page_;
    int64_t slot_tokens = any_dense ? std::min(piece_tokens_, round_up(visible_most, page_)) : 0;
    int64_t emission = slot_tokens, gathered = any_dense && unpack_ ? slot_tokens : 0;
    if (any_sparse) {
        const Attention& a = d.attention;
        const int64_t blocks = ceil_div(chunk, std::min(a.block, chunk));
        const int64_t past_pages = longest_past / page_;
        const int64_t fixed = std::min(a.sink + a.local, past_pages);
        const int64_t bound = std::min(past_pages, fixed + blocks * std::max<int64_t>(0, a.budget - a.sink - a.local));
        slot_tokens = std::max(slot_tokens, bound * page_);
        const int64_t gathered_pages = blocks * std::min(a.budget, past_pages);
        emission = std::max(emission, gathered_pages * page_);
        gathered = std::max(gathered, gathered_pages * page_);
        const int64_t pages = ceil_div(plan.context.count(), page_);
        const RankSizes& s = emitter.sizes();
        builder.buffer("page vectors", Tier::device, Category::selection, pages * s.kv * s.element * layers_);
        builder.buffer("selections", Tier::device, Category::selection,
                       ceil_div(plan.context.count(), std::min(a.block, chunk)) * std::min(a.budget, past_pages) * 4 * layers_);
        // Votes of all blocks of a chunk, and the scores of one block.
        builder.buffer("scores", Tier::device, Category::selection,
                       (blocks + std::min(a.block, chunk) * s.kv_heads) * past_pages * 4);
    }
    emitter.reserve_past(emission, gathered);
    const bool kv_travels = any_off_device(d.kv_residency, layers_, chunks_ - 1);
    const bool gradients_travel = any_off_device(d.kv_gradient_residency, layers_, chunks_);
    if (kv_travels) {
        kv_ = Stager(builder, "staged pages", Category::staging, emitter.kv_bytes(slot_tokens), d.staging_slots, d.prefetch);
        own_ = Stager(builder, "own pages", Category::staging, emitter.kv_bytes(round_up(chunk, page_)), d.wavefront + 1, d.wavefront);
    }
    if (gradients_travel) {
        gradient_ = Stager(builder, "staged page gradients", Category::staging, emitter.kv_gradient_bytes(slot_tokens),
                           d.staging_slots, d.prefetch);
        own_gradient_ = Stager(builder, "own page gradients", Category::staging,
                               emitter.kv_gradient_bytes(round_up(chunk, page_)), 2, 1);
    }
    if (d.kv_residency.disk_chunks > 0 || d.kv_gradient_residency.disk_chunks > 0) {
        const int64_t bounce = std::max(emitter.kv_bytes(slot_tokens), emitter.kv_gradient_bytes(slot_tokens));
        for (int64_t i = 0; i < kBounceSlots; ++i) {
            builder.buffer("disk bounce " + std::to_string(i), Tier::host, Category::staging, bounce);
        }
        disk_bounce_.assign(kBounceSlots, kNone);
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
    touched_from_.assign(static_cast<size_t>(layers_),
                         plan_.decisions.gradient_pages == GradientPages::all_at_once ? 0 : plan_.context.count());
}

void PastFlow::take_gradients(Place place, int64_t layer, int64_t pages, OpId op, OpId after) {
    gradients_held_[static_cast<size_t>(layer)][static_cast<size_t>(place)] += pages;
    builder_.pool_take(pool_of(place), Category::kv_gradients, pages * gradient_units_, op, after);
}

void PastFlow::free_gradients(Place place, int64_t layer, int64_t pages, OpId op) {
    int64_t& held = gradients_held_[static_cast<size_t>(layer)][static_cast<size_t>(place)];
    const int64_t freed = std::min(pages, held);
    held -= freed;
    builder_.pool_free(pool_of(place), Category::kv_gradients, freed * gradient_units_, op);
}

void PastFlow::take_kv(Place place, int64_t chunk, int64_t layer, OpId op, OpId after) {
    kv_held_[static_cast<size_t>(layer * chunks_ + chunk)] = true;
    builder_.pool_take(pool_of(place), Category::kv, pages_of(plan_.chunk_tokens(chunk)) * kv_units_, op, after);
}

void PastFlow::free_kv(int64_t chunk, int64_t layer, OpId op) {
    if (!kv_held_[static_cast<size_t>(layer * chunks_ + chunk)]) return;
    kv_held_[static_cast<size_t>(layer * chunks_ + chunk)] = false;
    const Place from = place(plan_.decisions.kv_residency, layer, past(chunk));
    builder_.pool_free(pool_of(from), Category::kv, pages_of(plan_.chunk_tokens(chunk)) * kv_units_, op);
}

const PageMoves& PastFlow::moves(int64_t chunk, int64_t layer) const {
    return (*moves_)[static_cast<size_t>(layer) % moves_->size()][static_cast<size_t>(chunk)];
}

int64_t PastFlow::visible(int64_t chunk, int64_t layer) const {
    const Layer& l = plan_.model.layers[static_cast<size_t>(layer)];
    return visible_past(past(chunk), plan_.decisions.honour_windows ? l.window : 0);
}

PastFlow::Place PastFlow::place(const Residency& r, int64_t layer, int64_t token) const {
    if (Plan::device_layer(r, layer, layers_)) return Place::device;
    const int64_t chunk = token / plan_.decisions.chunk.count();
    if (chunk < r.device_chunks) return Place::device;
    return chunk >= chunks_ - r.disk_chunks ? Place::disk : Place::host;
}

bool PastFlow::layer_on_device(int64_t layer) const {
    return Plan::device_layer(plan_.decisions.kv_residency, layer, layers_);
}

uint32_t PastFlow::page_copy(WorkKind direction, int64_t pages, int64_t page_bytes) {
    if (pages == 0) return builder_.work(Work{});
    // K and V of a page are two pieces; pages of neighbouring tokens lie side by side, so a dense piece of the past
    // travels in runs of a chunk.
    const int64_t bytes = pages * page_bytes;
    const bool scattered = plan_.decisions.attention.sparse;
    const int64_t run = std::max<int64_t>(1, plan_.decisions.chunk.count() / page_);
    return builder_.work(copy(direction, bytes, 2 * (scattered ? pages : ceil_div(pages, run)), plan_.decisions.page_copy));
}

OpId PastFlow::load_mixed(Stager& stager, OpKind kind, int64_t host_pages, int64_t disk_pages, int64_t page_bytes,
                          OpId wait, int64_t piece, OpId wait2) {
    OpId read = kNone;
    if (plan_.decisions.kv_residency.disk_chunks > 0 || plan_.decisions.kv_gradient_residency.disk_chunks > 0) {
        // By way of a bounce slot on the host, whose last user must be done.
        OpId& bounce = disk_bounce_[next_bounce_++ % disk_bounce_.size()];
        read = builder_.op(Stream::disk, OpKind::read_pages,
                           builder_.work(disk_pages > 0 ? disk(WorkKind::disk_read, disk_pages * page_bytes) : Work{}),
                           {bounce, wait, wait2, stager.not_before()}, piece);
        const OpId op = builder_.op(Stream::to_device, kind,
                                    page_copy(WorkKind::copy_to_device, host_pages + disk_pages, page_bytes),
                                    {stager.free_after(), stager.not_before(), wait, wait2, read}, piece);
        bounce = op;
        return op;
    }
    return stager.load(Stream::to_device, kind, page_copy(WorkKind::copy_to_device, host_pages, page_bytes), wait, piece, wait2);
}

OpId PastFlow::load(Stager& stager, OpKind kind, Place from, int64_t tokens, int64_t page_bytes, OpId wait,
                    int64_t piece) {
    const int64_t pages = pages_of(tokens);
    return load_mixed(stager, kind, from == Place::host ? pages : 0, from == Place::disk ? pages : 0, page_bytes, wait,
                      piece);
}

OpId PastFlow::store_mixed(OpKind kind, int64_t host_pages, int64_t disk_pages, int64_t page_bytes, OpId wait) {
    const bool any_disk = !disk_bounce_.empty();
    OpId* bounce = any_disk ? &disk_bounce_[next_bounce_++ % disk_bounce_.size()] : nullptr;
    const OpId op = builder_.op(Stream::to_host, kind,
                                page_copy(WorkKind::copy_to_host, host_pages + disk_pages, page_bytes),
                                {wait, bounce ? *bounce : kNone});
    if (any_disk) {
        *bounce = builder_.op(Stream::disk, OpKind::write_pages,
                              builder_.work(disk_pages > 0 ? disk(WorkKind::disk_write, disk_pages * page_bytes) : Work{}),
                              {op});
    }
    return op;
}

OpId PastFlow::store(OpKind kind, Place to, int64_t tokens, int64_t page_bytes, OpId wait, int64_t) {
    const int64_t pages = pages_of(tokens);
    return store_mixed(kind, to == Place::host ? pages : 0, to == Place::disk ? pages : 0, page_bytes, wait);
}

OpId PastFlow::append_wait(int64_t layer, int64_t chunk) const {
    const bool travels = chunk + 1 < chunks_ && place(plan_.decisions.kv_residency, layer, past(chunk)) != Place::device;
    return travels ? own_.free_after() : kNone;
}

void PastFlow::append(int64_t chunk, int64_t layer, OpId rope) {
    if (chunk + 1 >= chunks_) return;  // no later chunk reads it
    const Place to = place(plan_.decisions.kv_residency, layer, past(chunk));
    if (to == Place::device) return take_kv(to, chunk, layer, rope);
    const OpId op = store(OpKind::store_pages, to, plan_.chunk_tokens(chunk), kv_page_, rope, 0);
    take_kv(to, chunk, layer, op, rope);
    own_.used(op);
    stored_[static_cast<size_t>(layer)] = op;
    const int64_t pages = pages_of(plan_.chunk_tokens(chunk));
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    row.written_back = static_cast<uint32_t>(pages);
    row.written_bytes = pages * kv_page_;
    builder_.traffic(row);
}

void PastFlow::select(int64_t chunk, int64_t layer) {
    const Layer& l = plan_.model.layers[static_cast<size_t>(layer)];
    if (!sparse(l)) return;
    const RankSizes& s = emitter_.sizes();
    const int64_t tokens = plan_.chunk_tokens(chunk), past_pages = past(chunk) / page_;
    emitter_.compute(OpKind::page_means, builder_.work(memory_bound(tokens * s.kv * s.element)));
    if (chunk == 0) return;
    // Scores (one GEMM, K heads side by side), then two passes of a softmax over tiles of them.
    emitter_.compute(OpKind::select, builder_.work(gemm(tokens, past_pages, s.head_dim, static_cast<int32_t>(s.kv_heads))));
    selected_ = emitter_.compute(OpKind::select, builder_.work(memory_bound(2 * tokens * s.kv_heads * past_pages * 4)));
}

std::vector<PastFlow::Piece> PastFlow::pieces(int64_t chunk, int64_t layer, bool backward) const {
    const Decisions& d = plan_.decisions;
    const int64_t end = past(chunk), begin = end - visible(chunk, layer), chunk_tokens = d.chunk.count();
    std::vector<int64_t> cuts{begin, end};
    const auto cut = [&](int64_t at) {
        if (at > begin && at < end) cuts.push_back(at);
    };
    cut(d.kv_residency.device_chunks * chunk_tokens);
    cut((chunks_ - d.kv_residency.disk_chunks) * chunk_tokens);
    if (backward) {
        cut(d.kv_gradient_residency.device_chunks * chunk_tokens);
        cut((chunks_ - d.kv_gradient_residency.disk_chunks) * chunk_tokens);
        cut(touched_from_[static_cast<size_t>(layer)]);
    }
    std::sort(cuts.begin(), cuts.end());
    std::vector<Piece> result;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
        int64_t at = cuts[i];
        while (at < cuts[i + 1]) {
            const Place kv = place(d.kv_residency, layer, at), gradient = place(d.kv_gradient_residency, layer, at);
            // Where nothing travels and nothing is emitted, one op serves it all.
            const bool whole = !backward && kv == Place::device && !unpack_;
            const int64_t last = whole ? cuts[i + 1] : std::min(cuts[i + 1], at + piece_tokens_);
            result.push_back(Piece{at, last, kv, gradient, at >= touched_from_[static_cast<size_t>(layer)]});
            at = last;
        }
    }
    return result;
}

void PastFlow::forward(int64_t chunk, int64_t layer, bool known) {
    if (chunk == 0) return;
    if (sparse(plan_.model.layers[static_cast<size_t>(layer)])) {
        sparse_forward(chunk, layer, known);
    } else {
        dense_forward(chunk, layer);
    }
}

void PastFlow::backward(int64_t chunk, int64_t layer) {
    if (chunk == 0) return;
    if (sparse(plan_.model.layers[static_cast<size_t>(layer)])) {
        sparse_backward(chunk, layer);
    } else {
        dense_backward(chunk, layer);
    }
}

namespace {

// Keys in [first, last) that the chunk's queries see, of a past that ends at `past`.
double seen_in(int64_t tokens, int64_t past, int64_t first, int64_t last, int64_t window) {
    return past_keys_seen(tokens, past - first, window) - past_keys_seen(tokens, past - last, window);
}

}  // namespace

void PastFlow::dense_forward(int64_t chunk, int64_t layer) {
    const Decisions& d = plan_.decisions;
    const int64_t tokens = plan_.chunk_tokens(chunk);
    const int64_t window = d.honour_windows ? plan_.model.layers[static_cast<size_t>(layer)].window : 0;
    const OpId stored = stored_[static_cast<size_t>(layer)];
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    int64_t index = 0;
    for (const Piece& p : pieces(chunk, layer, false)) {
        const int64_t keys = p.last - p.first, pages = pages_of(keys);
        row.selected += static_cast<uint32_t>(pages);
        const bool travels = p.kv != Place::device;
        OpId arrived = kNone;
        if (travels) {
            arrived = load(kv_, OpKind::load_pages, p.kv, keys, kv_page_, stored, index);
            row.loaded += static_cast<uint32_t>(pages);
            row.loaded_bytes += pages * kv_page_;
        }
        if (d.load_gradients_forward && p.gradient != Place::device) {
            const OpId op = load(gradient_, OpKind::load_page_gradients, p.gradient, keys, gradient_page_,
                                 gradients_stored_[static_cast<size_t>(layer)], index);
            emitter_.await(op);
            row.gradients_loaded += static_cast<uint32_t>(pages);
            row.loaded_bytes += pages * gradient_page_;
        }
        if (unpack_) {
            emitter_.await(arrived);
            arrived = emitter_.gather(keys, index);
        }
        const OpId read = emitter_.attend_past(tokens, keys, seen_in(tokens, past(chunk), p.first, p.last, window), arrived, index);
        emitter_.release_gathered(read);
        if (d.load_gradients_forward && p.gradient != Place::device) gradient_.used(read);
        if (travels) {
            OpId last = read;
            if (d.write_back_clean) {
                last = store(OpKind::store_pages, p.kv, keys, kv_page_, read, index);
                row.written_back += static_cast<uint32_t>(pages);
                row.written_bytes += pages * kv_page_;
            }
            kv_.used(last);
        }
        ++index;
    }
    builder_.traffic(row);
}

void PastFlow::dense_backward(int64_t chunk, int64_t layer) {
    const Decisions& d = plan_.decisions;
    const size_t li = static_cast<size_t>(layer);
    const int64_t tokens = plan_.chunk_tokens(chunk);
    const int64_t window = d.honour_windows ? plan_.model.layers[li].window : 0;
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    int64_t index = 0;
    for (const Piece& p : pieces(chunk, layer, true)) {
        const int64_t keys = p.last - p.first, pages = pages_of(keys);
        row.selected += static_cast<uint32_t>(pages);
        const bool travels = p.kv != Place::device, gradient_travels = p.gradient != Place::device;
        if (travels) {
            emitter_.await(load(kv_, OpKind::load_pages, p.kv, keys, kv_page_, stored_[li], index));
            row.loaded += static_cast<uint32_t>(pages);
            row.loaded_bytes += pages * kv_page_;
        }
        if (unpack_) emitter_.gather(keys, index);
        const OpId read = emitter_.past_attention_backward(
            tokens, keys, seen_in(tokens, past(chunk), p.first, p.last, window), kNone, index);
        emitter_.release_gathered(read);
        if (travels) {
            OpId last = read;
            if (d.write_back_clean) {
                last = store(OpKind::store_pages, p.kv, keys, kv_page_, read, index);
                row.written_back += static_cast<uint32_t>(pages);
                row.written_bytes += pages * kv_page_;
            }
            kv_.used(last);
        }
        if (gradient_travels) {
            if (p.touched) {
                emitter_.await(load(gradient_, OpKind::load_page_gradients, p.gradient, keys, gradient_page_,
                                    gradients_stored_[li], index));
                row.gradients_loaded += static_cast<uint32_t>(pages);
                row.loaded_bytes += pages * gradient_page_;
            } else {
                emitter_.await(gradient_.free_after());
            }
        }
        const OpId summed = emitter_.accumulate(keys, keys, p.touched, index);
        if (!p.touched) row.first_touched += static_cast<uint32_t>(pages);
        if (gradient_travels) {
            const OpId op = store(OpKind::store_page_gradients, p.gradient, keys, gradient_page_, summed, index);
            if (!p.touched) take_gradients(p.gradient, layer, pages, op, summed);
            gradient_.used(op);
            gradients_stored_[li] = op;
            row.written_back += static_cast<uint32_t>(pages);
            row.written_bytes += pages * gradient_page_;
        } else if (!p.touched) {
            take_gradients(p.gradient, layer, pages, summed);
        }
        ++index;
    }
    touched_from_[li] = std::min(touched_from_[li], past(chunk) - visible(chunk, layer));
    builder_.traffic(row);
}

void PastFlow::sparse_forward(int64_t chunk, int64_t layer, bool known) {
    const Decisions& d = plan_.decisions;
    const PageMoves& m = moves(chunk, layer);
    const bool on_device = layer_on_device(layer);
    const int64_t tokens = plan_.chunk_tokens(chunk);
    const int64_t keys = std::min(past(chunk), d.attention.budget * page_);
    const bool fill = builder_.pass == Pass::fill;
    const int64_t host = fill ? m.fill_host : m.again_host, on_disk = fill ? m.fill_disk : m.again_disk;
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    row.selected = m.selected;
    OpId arrived = kNone;
    if (!on_device) {
        OpId selection = known ? kNone : selected_;
        if (!known && d.page_copy != PageCopy::gather) {
            // The host must know the selection before it can start copies: one small copy there.
            const int64_t bytes = ceil_div(tokens, std::min(d.attention.block, tokens)) * d.attention.budget * 4;
            selection = builder_.op(Stream::to_host, OpKind::selection_to_host,
                                    builder_.work(copy(WorkKind::copy_to_host, bytes, 1)), {selected_});
        }
        arrived = load_mixed(kv_, OpKind::load_pages, host, on_disk, kv_page_, stored_[static_cast<size_t>(layer)], 0,
                             selection);
        row.loaded = static_cast<uint32_t>(host + on_disk);
        row.hit = fill ? m.fill_hit : 0;
        row.evicted = fill ? m.fill_evicted : 0;
        row.loaded_bytes = (host + on_disk) * kv_page_;
    }
    const double seen = static_cast<double>(tokens) * static_cast<double>(keys);
    const OpId read = emitter_.attend_past(tokens, keys, seen, arrived, 0);
    if (!on_device) kv_.used(read);
    builder_.traffic(row);
}

void PastFlow::sparse_backward(int64_t chunk, int64_t layer) {
    const Decisions& d = plan_.decisions;
    const size_t li = static_cast<size_t>(layer);
    const PageMoves& m = moves(chunk, layer);
    const bool on_device = layer_on_device(layer);
    const bool gradients_on_device = Plan::device_layer(d.kv_gradient_residency, layer, layers_);
    const int64_t tokens = plan_.chunk_tokens(chunk);
    const int64_t keys = std::min(past(chunk), d.attention.budget * page_);
    const int64_t blocks = ceil_div(tokens, std::min(d.attention.block, tokens));
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    row.selected = m.selected;
    row.first_touched = m.first_touched;
    if (!on_device) {
        emitter_.await(load_mixed(kv_, OpKind::load_pages, m.back_host, m.back_disk, kv_page_, stored_[li], 0));
        row.loaded = m.back_host + m.back_disk;
        row.hit = m.back_hit;
        row.evicted = m.back_evicted;
        row.loaded_bytes = row.loaded * kv_page_;
    }
    emitter_.gather(blocks * keys, 0);
    const double seen = static_cast<double>(tokens) * static_cast<double>(keys);
    const OpId read = emitter_.past_attention_backward(tokens, keys, seen, kNone, 0);
    emitter_.release_gathered(read);
    if (!on_device) kv_.used(read);
    if (!gradients_on_device) {
        emitter_.await(load_mixed(gradient_, OpKind::load_page_gradients, m.grad_load_host, m.grad_load_disk, gradient_page_,
                                  gradients_stored_[li], 0));
        row.gradients_loaded = m.grad_load_host + m.grad_load_disk;
        row.loaded_bytes += row.gradients_loaded * gradient_page_;
    }
    const OpId summed = emitter_.accumulate(blocks * keys, m.selected * page_, true, 0);
    if (gradients_on_device) {
        take_gradients(Place::device, layer, m.first_touched, summed);
    } else {
        const OpId op = store_mixed(OpKind::store_page_gradients, m.grad_store_host, m.grad_store_disk, gradient_page_, summed);
        take_gradients(Place::device, layer, m.taken_device, summed);
        take_gradients(Place::host, layer, m.taken_host, op, summed);
        take_gradients(Place::disk, layer, m.taken_disk, op, summed);
        gradient_.used(op);
        gradients_stored_[li] = op;
        row.written_back = m.grad_store_host + m.grad_store_disk;
        row.written_bytes = row.written_back * gradient_page_;
    }
    builder_.traffic(row);
}

void PastFlow::own_gradients(int64_t chunk, int64_t layer) {
    if (chunk + 1 >= chunks_) return;  // no later chunk attended it
    const Decisions& d = plan_.decisions;
    const size_t li = static_cast<size_t>(layer);
    const bool is_sparse = sparse(plan_.model.layers[li]);
    const int64_t tokens = plan_.chunk_tokens(chunk);
    const Place from = place(d.kv_gradient_residency, layer, past(chunk));
    const bool whole_layer = Plan::device_layer(d.kv_gradient_residency, layer, layers_);
    const int64_t read_pages = is_sparse ? moves(chunk, layer).own_touched : pages_of(tokens);
    if (!whole_layer && (is_sparse || from != Place::device)) {
        const int64_t host = is_sparse ? moves(chunk, layer).own_host : (from == Place::host ? read_pages : 0);
        const int64_t on_disk = is_sparse ? moves(chunk, layer).own_disk : (from == Place::disk ? read_pages : 0);
        emitter_.await(load_mixed(own_gradient_, OpKind::load_page_gradients, host, on_disk, gradient_page_,
                                  gradients_stored_[li], 0));
        own_gradient_.used(emitter_.accumulate(0, read_pages * page_, false, 0));
        return;
    }
    emitter_.accumulate(0, read_pages * page_, false, 0);
}

void PastFlow::close(int64_t chunk, int64_t layer, OpId op) {
    const Decisions& d = plan_.decisions;
    // This chunk was the last to read the K and V of the one before it.
    if (chunk > 0) free_kv(chunk - 1, layer, op);
    const bool last = chunk + 1 >= chunks_;  // nobody attends it: it has gradient pages only where all are made at once
    const bool at_once = d.gradient_pages == GradientPages::all_at_once && chunks_ > 1;
    if (at_once || (!last && !sparse(plan_.model.layers[static_cast<size_t>(layer)]))) {
        const Place p = place(d.kv_gradient_residency, layer, past(chunk));
        return free_gradients(p, layer, pages_of(plan_.chunk_tokens(chunk)), op);
    }
    if (last) return;
    const PageMoves& m = moves(chunk, layer);
    if (Plan::device_layer(d.kv_gradient_residency, layer, layers_)) {
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
        const OpId op = emitter_.compute(OpKind::zero, builder_.work(memory_bound(pages[0] * gradient_page_)));
        for (size_t p = 0; p < pages.size(); ++p) take_gradients(static_cast<Place>(p), l, pages[p], op);
    }
}

}  // namespace headroom
