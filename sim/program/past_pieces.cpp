#include "program/past_pieces.h"

#include <algorithm>

#include "program/layer.h"
#include "program/page_units.h"

namespace headroom {

PastPlace past_place(const Plan& plan, const Residency& r, int64_t layer, int64_t token) {
    if (Plan::device_layer(r, layer, plan.model.layer_count())) return PastPlace::device;
    const int64_t chunk = token / plan.decisions.chunk.count();
    if (chunk < r.device_chunks) return PastPlace::device;
    return chunk >= plan.chunks() - r.disk_chunks ? PastPlace::disk : PastPlace::host;
}

int64_t past_piece_tokens(const Plan& plan) {
    const Decisions& d = plan.decisions;
    const int64_t page = d.page.count(), values = 2 * page * (plan.model.kv_size() / d.tensor_ranks);
    const int64_t slot_pages = std::max<int64_t>(1, d.staging_slot.count() / bytes_of(d.kv, values).count());
    const int64_t segment_pages = ceil_div(d.segment.count(), page);
    return (slot_pages >= segment_pages ? slot_pages / segment_pages * segment_pages : slot_pages) * page;
}

bool selects_pages(const Plan& plan, int64_t layer) {
    const Decisions& d = plan.decisions;
    const Layer& l = plan.model.layers[static_cast<size_t>(layer)];
    return d.attention.sparse && (l.window == 0 || !d.honour_windows);
}

int64_t most_selected(const Plan& plan, int64_t past_pages) {
    const Attention& a = plan.decisions.attention;
    const int64_t chunk = std::min(plan.decisions.chunk.count(), plan.context.count()),
                  blocks = ceil_div(chunk, std::min(a.block, chunk)),
                  fixed = std::min(a.sink + a.local, past_pages);
    return std::min(past_pages, fixed + blocks * std::max<int64_t>(0, a.budget - a.sink - a.local));
}

int64_t visible_past(const Plan& plan, int64_t chunk, int64_t layer) {
    const Layer& l = plan.model.layers[static_cast<size_t>(layer)];
    return visible_past(chunk * plan.decisions.chunk.count(), plan.decisions.honour_windows ? l.window : 0);
}

std::vector<PastPiece> past_pieces(const Plan& plan, int64_t chunk, int64_t layer, bool backward,
                                   int64_t touched_from) {
    const Decisions& d = plan.decisions;
    const int64_t chunk_tokens = d.chunk.count(), page = d.page.count(), chunks = plan.chunks();
    const int64_t end = chunk * chunk_tokens, begin = end - visible_past(plan, chunk, layer);
    const int64_t piece_tokens = past_piece_tokens(plan);
    const bool gradients = backward || d.load_gradients_forward;
    const bool unpack = unpacks_pages(plan);
    std::vector<int64_t> cuts{begin, end};
    const auto cut = [&](int64_t at) {
        if (at > begin && at < end) cuts.push_back(at);
    };
    cut(d.kv_residency.device_chunks * chunk_tokens);
    cut((chunks - d.kv_residency.disk_chunks) * chunk_tokens);
    if (gradients) {
        cut(d.kv_gradient_residency.device_chunks * chunk_tokens);
        cut((chunks - d.kv_gradient_residency.disk_chunks) * chunk_tokens);
        cut(touched_from);
    }
    std::sort(cuts.begin(), cuts.end());
    std::vector<PastPiece> result;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
        int64_t at = cuts[i];
        while (at < cuts[i + 1]) {
            const PastPlace kv = past_place(plan, d.kv_residency, layer, at),
                            gradient = past_place(plan, d.kv_gradient_residency, layer, at);
            // Where nothing travels and nothing is emitted, one op serves it all. Pieces end with a page: a
            // window may begin inside of one.
            const bool whole = !backward && kv == PastPlace::device && !unpack &&
                               !(gradients && gradient != PastPlace::device);
            const int64_t last = whole ? cuts[i + 1] : std::min(cuts[i + 1], at / page * page + piece_tokens);
            result.push_back(PastPiece{at, last, kv, gradient, at >= touched_from});
            at = last;
        }
    }
    return result;
}

}  // namespace headroom
