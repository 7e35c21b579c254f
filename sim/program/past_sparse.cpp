// Sparse attention to the past: the pages that a chunk selects. What moves is worked out in page_traffic.h.
#include <algorithm>

#include "program/past.h"
#include "program/selection_scratch.h"

namespace headroom {

void PastFlow::select(int64_t chunk, int64_t layer) {
    if (!selects_pages(plan_, layer)) return;
    const RankSizes& s = emitter_.sizes();
    const int64_t tokens = plan_.chunk_tokens(chunk), past_pages = past(chunk) / page_;
    emitter_.compute(OpKind::page_means,
                     builder_.work(memory_bound(tokens * s.kv * s.element, Kernel::page_means, tokens)));
    if (chunk == 0) return;
    const bool limited = limits_waiting(plan_, past_pages);
    // The votes of the chunk before, or of the layer, are still on their way to the host.
    if (limited) emitter_.await(selected_);
    // Scores (one GEMM, K heads side by side), then two passes of a softmax over tiles of them.
    emitter_.compute(OpKind::select,
                     builder_.work(gemm(tokens, past_pages, s.head_dim, static_cast<int32_t>(s.kv_heads))));
    const OpId voted = emitter_.compute(
        OpKind::select,
        builder_.work(memory_bound(2 * tokens * s.kv_heads * past_pages * 4, Kernel::select, tokens)));
    // The host starts the copies, and the gradient pass reads the selection again: one small copy there.
    const Attention& a = plan_.decisions.attention;
    // Where waiting pages have a limit it also chooses, by the votes of all pages.
    const int64_t bytes = ceil_div(tokens, std::min(a.block, tokens)) *
                          (limited ? past_pages : std::min(a.budget, past_pages)) * 4;
    selected_ = builder_.op(Stream::to_host, OpKind::selection_to_host,
                            builder_.work(copy(WorkKind::copy_to_host, bytes, 1)), {voted});
}

OpId PastFlow::written_back(OpId read, int64_t host_pages, int64_t disk_pages, Traffic& row) {
    if (!plan_.decisions.write_back_clean) return read;
    row.written_back += static_cast<uint32_t>(host_pages + disk_pages);
    row.written_bytes += (host_pages + disk_pages) * kv_page_;
    return store_mixed(OpKind::store_pages, host_pages, disk_pages, kv_page_, read);
}

// In a fill pass before any gradient there are sums only where all pages of them are made at once.
bool PastFlow::loads_gradients_forward(int64_t layer) const {
    const Decisions& d = plan_.decisions;
    return d.load_gradients_forward && !stays(d.kv_gradient_residency, layer) &&
           (builder_.pass == Pass::gradient || d.gradient_pages == GradientPages::all_at_once);
}

void PastFlow::sparse_forward(int64_t chunk, int64_t layer, bool known) {
    const Decisions& d = plan_.decisions;
    const PageMoves& m = moves(chunk, layer);
    const bool on_device = stays(d.kv_residency, layer);
    const int64_t tokens = plan_.chunk_tokens(chunk);
    const int64_t keys = std::min(past(chunk), d.attention.budget * page_);
    const bool fill = builder_.pass == Pass::fill;
    const int64_t host = fill ? m.fill_host : m.again_host, on_disk = fill ? m.fill_disk : m.again_disk;
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    row.selected = m.selected;
    const bool gradients = loads_gradients_forward(layer);
    const OpId selection = known ? kNone : selected_;
    if (!on_device) {
        emitter_.await(load_mixed(kv_, OpKind::load_pages, host, on_disk, kv_page_, kv_stored(layer), 0,
                                  selection, fill ? m.fill_runs : m.again_runs));
        row.loaded = static_cast<uint32_t>(host + on_disk);
        row.hit = fill ? m.fill_hit : 0;
        row.evicted = fill ? m.fill_evicted : 0;
        row.loaded_bytes = (host + on_disk) * kv_page_;
    }
    if (gradients) {
        const int64_t from_host = fill ? m.fill_grad_host : m.grad_load_host,
                      from_disk = fill ? m.fill_grad_disk : m.grad_load_disk;
        emitter_.await(load_mixed(gradient_, OpKind::load_page_gradients, from_host, from_disk,
                                  gradient_page_, gradients_stored_[static_cast<size_t>(layer)], 0, selection,
                                  fill ? m.fill_grad_runs : m.grad_load_runs));
        row.gradients_loaded = static_cast<uint32_t>(from_host + from_disk);
        row.loaded_bytes += (from_host + from_disk) * gradient_page_;
    }
    emitter_.await(selection);
    // What was loaded enters the cache, as do the chunk's own pages.
    const bool enters = fill && !on_device && d.page_cache.count() > 0;
    const int64_t entering = enters ? host + on_disk + pages_of(tokens) : 0;
    emitter_.gather(ceil_div(tokens, std::min(d.attention.block, tokens)) * keys + entering * page_, 0);
    const double seen = static_cast<double>(tokens) * static_cast<double>(keys);
    const OpId read = emitter_.attend_past(tokens, keys, seen, kNone, 0);
    emitter_.release_gathered(read);
    if (gradients) gradient_.used(read);
    if (!on_device) kv_.used(written_back(read, host, on_disk, row));
    builder_.traffic(row);
}

void PastFlow::sparse_backward(int64_t chunk, int64_t layer) {
    const Decisions& d = plan_.decisions;
    const size_t li = static_cast<size_t>(layer);
    const PageMoves& m = moves(chunk, layer);
    const bool on_device = stays(d.kv_residency, layer);
    const bool gradients_on_device = stays(d.kv_gradient_residency, layer);
    const int64_t tokens = plan_.chunk_tokens(chunk);
    const int64_t keys = std::min(past(chunk), d.attention.budget * page_);
    const int64_t blocks = ceil_div(tokens, std::min(d.attention.block, tokens));
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    row.selected = m.selected;
    row.first_touched = m.first_touched;
    if (!on_device) {
        emitter_.await(load_mixed(kv_, OpKind::load_pages, m.back_host, m.back_disk, kv_page_,
                                  kv_stored(layer), 0, kNone, m.back_runs));
        row.loaded = m.back_host + m.back_disk;
        row.hit = m.back_hit;
        row.evicted = m.back_evicted;
        row.loaded_bytes = row.loaded * kv_page_;
    }
    // What was loaded enters the cache: K and V here, and where sums are added up those, and what is given up
    // for them leaves it.
    const bool cached = d.page_cache.count() > 0;
    const int64_t entering = cached ? m.selected - m.back_hit : 0, leaving = cached ? m.back_evicted : 0;
    emitter_.gather(blocks * keys + (on_device ? 0 : entering * page_), 0);
    const double seen = static_cast<double>(tokens) * static_cast<double>(keys);
    const OpId read = emitter_.past_attention_backward(tokens, keys, seen, kNone, 0);
    emitter_.release_gathered(read);
    if (!on_device) kv_.used(written_back(read, m.back_host, m.back_disk, row));
    if (!gradients_on_device) {
        emitter_.await(load_mixed(gradient_, OpKind::load_page_gradients, m.grad_load_host, m.grad_load_disk,
                                  gradient_page_, gradients_stored_[li], 0, kNone, m.grad_load_runs));
        row.gradients_loaded = m.grad_load_host + m.grad_load_disk;
        row.loaded_bytes += row.gradients_loaded * gradient_page_;
    }
    const int64_t moved = gradients_on_device ? 0 : entering + leaving;
    const OpId summed = emitter_.accumulate(blocks * keys, (m.selected + moved) * page_, true, 0);
    if (gradients_on_device) {
        take_gradients(Place::device, layer, m.first_touched, summed);
    } else {
        const OpId op = store_mixed(OpKind::store_page_gradients, m.grad_store_host, m.grad_store_disk,
                                    gradient_page_, summed, m.grad_store_runs);
        take_gradients(Place::device, layer, m.taken_device, summed);
        take_gradients(Place::host, layer, m.taken_host, op, summed);
        take_gradients(Place::disk, layer, m.taken_disk, op, summed);
        gradient_.used(op);
        gradients_stored_[li] = op;
        const uint32_t pages = m.grad_store_host + m.grad_store_disk;
        row.written_back += pages;
        row.written_bytes += pages * gradient_page_;
    }
    builder_.traffic(row);
}

}  // namespace headroom
