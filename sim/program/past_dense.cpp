// Dense attention to the past: all keys that a chunk sees, in pieces as large as a staging slot.
#include <algorithm>

#include "program/past.h"

namespace headroom {
namespace {

// Keys in [first, last) that the chunk's queries see, of a past that ends at `past`.
double seen_in(int64_t tokens, int64_t past, int64_t first, int64_t last, int64_t window) {
    return past_keys_seen(tokens, past - first, window) - past_keys_seen(tokens, past - last, window);
}

}  // namespace

std::vector<PastPiece> PastFlow::pieces(int64_t chunk, int64_t layer, bool backward) const {
    return past_pieces(plan_, chunk, layer, backward, touched_from_[static_cast<size_t>(layer)]);
}

void PastFlow::dense_forward(int64_t chunk, int64_t layer) {
    const Decisions& d = plan_.decisions;
    const int64_t tokens = plan_.chunk_tokens(chunk);
    const int64_t window = d.honour_windows ? plan_.model.layers[static_cast<size_t>(layer)].window : 0;
    const OpId stored = kv_stored(layer);
    Traffic row{static_cast<uint32_t>(chunk), static_cast<uint16_t>(layer), builder_.pass};
    int64_t index = 0;
    for (const PastPiece& p : pieces(chunk, layer, false)) {
        const int64_t keys = p.last - p.first, pages = pages_of(p);
        row.selected += static_cast<uint32_t>(pages);
        const bool travels = p.kv != PastPlace::device;
        OpId arrived = kNone;
        if (travels) {
            arrived = load(kv_, OpKind::load_pages, p.kv, pages, kv_page_, stored, index);
            row.loaded += static_cast<uint32_t>(pages);
            row.loaded_bytes += pages * kv_page_;
        }
        const bool gradients = d.load_gradients_forward && p.gradient != PastPlace::device && p.touched;
        if (gradients) {
            const OpId op = load(gradient_, OpKind::load_page_gradients, p.gradient, pages, gradient_page_,
                                 gradients_stored_[static_cast<size_t>(layer)], index);
            emitter_.await(op);
            row.gradients_loaded += static_cast<uint32_t>(pages);
            row.loaded_bytes += pages * gradient_page_;
        }
        if (unpack_) {
            emitter_.await(arrived);
            arrived = emitter_.gather(keys, index);
        }
        const OpId read = emitter_.attend_past(
            tokens, keys, seen_in(tokens, past(chunk), p.first, p.last, window), arrived, index);
        emitter_.release_gathered(read);
        if (gradients) gradient_.used(read);
        if (travels) {
            OpId last = read;
            if (d.write_back_clean) {
                last = store(OpKind::store_pages, p.kv, pages, kv_page_, read);
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
    for (const PastPiece& p : pieces(chunk, layer, true)) {
        const int64_t keys = p.last - p.first, pages = pages_of(p);
        row.selected += static_cast<uint32_t>(pages);
        const bool travels = p.kv != PastPlace::device, gradient_travels = p.gradient != PastPlace::device;
        if (travels) {
            emitter_.await(load(kv_, OpKind::load_pages, p.kv, pages, kv_page_, kv_stored(layer), index));
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
                last = store(OpKind::store_pages, p.kv, pages, kv_page_, read);
                row.written_back += static_cast<uint32_t>(pages);
                row.written_bytes += pages * kv_page_;
            }
            kv_.used(last);
        }
        if (gradient_travels) {
            if (p.touched) {
                // Pieces share no page: the last store that holds any of this one is of an earlier chunk.
                emitter_.await(load(gradient_, OpKind::load_page_gradients, p.gradient, pages, gradient_page_,
                                    gradients_stored_before_, index));
                row.gradients_loaded += static_cast<uint32_t>(pages);
                row.loaded_bytes += pages * gradient_page_;
            } else {
                emitter_.await(gradient_.free_after());
            }
        }
        const OpId summed = emitter_.accumulate(keys, keys, p.touched, index);
        if (!p.touched) row.first_touched += static_cast<uint32_t>(pages);
        if (gradient_travels) {
            const OpId op = store(OpKind::store_page_gradients, p.gradient, pages, gradient_page_, summed);
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
    // A page that any key of was touched holds sums for all of its keys.
    touched_from_[li] = std::min(touched_from_[li], (past(chunk) - visible(chunk, layer)) / page_ * page_);
    builder_.traffic(row);
}

}  // namespace headroom
