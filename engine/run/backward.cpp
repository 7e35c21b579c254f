// The backward ops of a step.
#include "decoder/reductions.h"
#include "run/step_state.h"

namespace headroom::engine {

void Executor::State::weight_gradient() {
    const Model& m = plan.model;
    if (layer_ < 0) return;  // the head's, by head()
    const auto add_bias = [&](const at::Tensor& bias, const at::Tensor& d) {
        if (bias.defined()) add_column_sums(d, bias, scratch_);
    };
    switch (next_gradient_) {
        case Projection::down:
            next_gradient_ = Projection::gate_up;
            return add_product(g().down, of_tile(d_projected()), tile_rows("activation", m.intermediate));
        case Projection::gate_up:
            next_gradient_ = last_mlp_tile() ? Projection::out : Projection::down;
            return add_product(g().gate_up, gate_up(), of_tile(rows("normed", m.hidden)));
        case Projection::out: {
            next_gradient_ = Projection::qkv;
            const at::Tensor dx = d_projected();
            add_product(g().out, dx, layer_views().attention.flatten(1));
            return add_bias(g().out_bias, dx);
        }
        case Projection::qkv: {
            next_gradient_ = Projection::down;
            const at::Tensor d_qkv = rows("d qkv", m.q_size() + 2 * m.kv_size());
            add_product(g().qkv, d_qkv, rows("normed", m.hidden));
            return add_bias(g().qkv_bias, d_qkv);
        }
    }
}

bool Executor::State::last_mlp_tile() const {
    const Tile tile = mlp_tile();
    return tile.first + tile.rows == rows_;
}

// The norm that a layer's backward pass makes again first: with activations kept its MLP's.
Executor::State::Norm Executor::State::first_norm_backward() const {
    return plan.decisions.activations == Activations::keep ? Norm::mlp : Norm::attention;
}

at::Tensor Executor::State::d_projected() const {
    return rows(four_norms_ ? "d normed" : "d hidden", plan.model.hidden);
}

void Executor::State::norm_backward() {
    const NormRule rule = norm_rule();
    const at::Tensor d = rows("d normed", plan.model.hidden), dx = rows("d hidden", plan.model.hidden);
    if (layer_ < 0) {
        return rms_norm_backward(rows("hidden 0", plan.model.hidden), parameters_.final_norm, rule, d, dx,
                                 false, sums_.final_norm, scratch_);
    }
    const LayerViews& v = layer_views();
    switch (next_norm_backward_) {
        case Norm::post_mlp:
            next_norm_backward_ = next_norm_ = Norm::mlp;
            return rms_norm_backward(v.down, w().post_mlp_norm, rule, dx, d, false, g().post_mlp_norm,
                                     scratch_);
        case Norm::mlp:
            next_norm_backward_ = four_norms_ ? Norm::post_attention : Norm::attention;
            return rms_norm_backward(v.x_mid, w().mlp_norm, rule, d, dx, true, g().mlp_norm, scratch_);
        case Norm::post_attention:
            next_norm_backward_ = Norm::attention;
            return rms_norm_backward(v.out, w().post_attention_norm, rule, dx, d, false,
                                     g().post_attention_norm, scratch_);
        case Norm::attention:
            next_norm_backward_ = four_norms_ ? Norm::post_mlp : Norm::mlp;
            rms_norm_backward(v.x, w().input_norm, rule, d, dx, true, g().input_norm, scratch_);
            next_norm_ = first_norm_backward();
            return close_chunk();
    }
}

AttentionScratch Executor::State::attention_scratch(const std::string& workspace) const {
    return {whole(workspace), {}, plan.decisions.deterministic};
}

void Executor::State::attention_own_backward() {
    const Model& m = plan.model;
    const LayerViews& v = layer_views();
    const at::Tensor d_qkv = rows("d qkv", m.q_size() + 2 * m.kv_size());
    const auto part = [&](int64_t first, int64_t size, int64_t heads) {
        return d_qkv.narrow(1, first, size).unflatten(1, {heads, m.head_dim});
    };
    attention_backward(
        v.q, v.k, v.v, v.attention, v.lse,
        rows("d attention", m.q_size()).unflatten(1, {m.heads, m.head_dim}), span_of(chunk_first()),
        part(0, m.q_size(), m.heads), false, part(m.q_size(), m.kv_size(), m.kv_heads),
        part(m.q_size() + m.kv_size(), m.kv_size(), m.kv_heads), attention_scratch("own attention backward"));
    if (g().sinks.defined()) {
        attention_sink_backward(v.attention, v.lse,
                                rows("d attention", m.q_size()).unflatten(1, {m.heads, m.head_dim}),
                                w().sinks, g().sinks);
    }
    d_q_fresh_ = past_backward_ = true;
    use_known_ = false;
    emitted_ = false;
}

// Of backward calls whose queries are packed: by the first call of a chunk and layer.
BlockScratch Executor::State::packed_scratch() const {
    return {{},
            whole("past attention backward"),
            whole("packed queries"),
            // The forward pass has merged what this buffer held.
            attention_in("attention of one segment").first,
            plan.decisions.deterministic,
            !d_q_fresh_};
}

void Executor::State::attention_past_backward(const Op& op) {
    if (selects_pages(plan, layer_)) return attend_selected_backward();
    const Model& m = plan.model;
    const LayerViews& v = layer_views();
    const PastPiece piece = piece_of(op, true);
    const at::Tensor d_q = view("d q summed", {rows_, m.heads, m.head_dim}, sum_);
    const int64_t keys = piece.last - piece.first;
    const at::Tensor d_k = view("dK and dV of one piece", {keys, m.kv_heads, m.head_dim}, type_);
    const at::Tensor d_v =
        view("dK and dV of one piece", {keys, m.kv_heads, m.head_dim}, type_, keys * m.kv_size() * element());
    const at::Tensor d_out = rows("d attention", m.q_size()).unflatten(1, {m.heads, m.head_dim});
    const bool packed = span_of(0).window == 0 && has("packed queries");  // a window may hide keys
    AttentionScratch scratch = attention_scratch("past attention backward");
    scratch.dq = attention_in("attention of one segment").first;
    visit_past(piece, [&](const at::Tensor& k, const at::Tensor& value, int64_t at, int64_t count) {
        const at::Tensor dk = d_k.narrow(0, at - piece.first, count),
                         dv = d_v.narrow(0, at - piece.first, count);
        if (packed) {
            block_attention_backward(v.q, k.unsqueeze(0), value.unsqueeze(0), v.attention, v.lse, d_out,
                                     rows_, d_q, !d_q_fresh_, dk.unsqueeze(0), dv.unsqueeze(0),
                                     packed_scratch());
        } else {
            attention_backward(v.q, k, value, v.attention, v.lse, d_out, span_of(at), d_q, !d_q_fresh_, dk,
                               dv, scratch);
        }
        d_q_fresh_ = false;
    });
    emitted_ = true;
}

// Adds a piece's dK and dV to its gradient pages; or, where nothing was emitted, the chunk's own sums to its
// dK and dV: all later chunks have added to them.
Result<void> Executor::State::accumulate(const Op& op) {
    if (!emitted_) {
        add_own_sums();
        return {};
    }
    emitted_ = false;
    if (selects_pages(plan, layer_)) return sum_selected();
    const Model& m = plan.model;
    const int64_t page = plan.decisions.page.count();
    int64_t& touched = touched_from_[static_cast<size_t>(layer_)];
    const std::vector<PastPiece> pieces = past_pieces(plan, chunk_, layer_, true, touched);
    const PastPiece& piece = pieces.at(op.piece);
    const int64_t first = piece.first / page, last = ceil_div(piece.last, page),
                  keys = piece.last - piece.first;
    const bool here = piece.gradient == PastPlace::device;
    // Pages of their own from this op on: overwritten, so that nothing has to be zeroed.
    const bool fresh = !home_of(PageKind::gradient, first).has(PageKind::gradient, layer_, first);
    for (int64_t p = first; p < last && fresh && here; ++p)
        HEADROOM_CHECK(pages_.take(PageKind::gradient, layer_, p));
    const auto emitted = [&](int half) {
        return view("dK and dV of one piece", {keys, m.kv_heads, m.head_dim}, type_,
                    half * keys * m.kv_size() * element());
    };
    // `sums` stand for the pages from token `at` on; a window may begin inside of the first of them.
    const auto add = [&](const at::Tensor& sums, int64_t at, int half) {
        const int64_t from = std::max(piece.first, at), to = std::min(piece.last, at + sums.size(0));
        if (to <= from) {  // units of the first page that no query sees
            if (fresh) sums.zero_();
            return;
        }
        const at::Tensor more = emitted(half).narrow(0, from - piece.first, to - from);
        at::Tensor own = sums.narrow(0, from - at, to - from);
        if (!fresh) {
            own.add_(more);
            return;
        }
        if (from > at) sums.narrow(0, 0, from - at).zero_();
        if (to < at + sums.size(0)) sums.narrow(0, to - at, at + sums.size(0) - to).zero_();
        own.copy_(more);
    };
    for (int half = 0; half < 2; ++half) {
        if (!here) {
            const std::string slot = gradient_slot(fresh);
            add(slot_view(PageKind::gradient, slot, half, 0, (last - first) * page), first * page, half);
            continue;
        }
        for (const PageRun& run : pages_.runs(PageKind::gradient, layer_, first, last))
            add(page_view(PageKind::gradient, run, half), run.first * unit_tokens(PageKind::gradient), half);
    }
    summed_ = piece;
    summed_fresh_ = fresh;
    // Only after the last piece: the pieces of one chunk are cut by what the chunks after it touched.
    if (op.piece + 1u == pieces.size())
        touched = std::min(touched, (chunk_first() - visible_past(plan, chunk_, layer_)) / page * page);
    return {};
}

// The slot of the piece in work: sums that exist were loaded to it.
std::string Executor::State::gradient_slot(bool fresh) const {
    return fresh ? gradient_slots_.slot() : gradient_slots_.last_slot();
}

void Executor::State::add_own_sums() {
    if (chunk_ + 1 == plan.chunks()) return;  // no later chunk attended it
    if (selects_pages(plan, layer_)) return add_own_selected_sums();
    const Model& m = plan.model;
    const int64_t page = plan.decisions.page.count();
    const at::Tensor d_qkv = rows("d qkv", m.q_size() + 2 * m.kv_size());
    // `sums` of tokens from the chunk's token `at` on.
    const auto add = [&](const at::Tensor& sums, int64_t at, int half) {
        const int64_t count = std::min(sums.size(0), rows_ - at);
        d_qkv.narrow(0, at, count)
            .narrow(1, m.q_size() + half * m.kv_size(), m.kv_size())
            .unflatten(1, {m.kv_heads, m.head_dim})
            .add_(sums.narrow(0, 0, count));
    };
    const int64_t first = chunk_first() / page, last = first + ceil_div(rows_, page);
    for (int half = 0; half < 2; ++half) {
        if (gradient_place(chunk_) == PastPlace::device) {
            for (const PageRun& run : pages_.runs(PageKind::gradient, layer_, first, last))
                add(page_view(PageKind::gradient, run, half),
                    run.first * unit_tokens(PageKind::gradient) - chunk_first(), half);
            continue;
        }
        // In the slot they lie by page, wherever host or disk keep them; what no later chunk's window reaches
        // has none.
        const auto in_slot = [&](int64_t p) {
            return home_of(PageKind::gradient, p).has(PageKind::gradient, layer_, p);
        };
        for (int64_t p = first; p < last; ++p) {
            const int64_t at = (p - first) * page;
            if (!in_slot(p)) continue;
            int64_t end = p + 1;  // neighbours in one call
            while (end < last && in_slot(end)) ++end;
            add(slot_view(PageKind::gradient, own_gradient_slots_.last_slot(), half, at, (end - p) * page),
                at, half);
            p = end - 1;
        }
    }
}

void Executor::State::embed_backward() {
    const at::Tensor ids = tokens_.select(0, sequence_).narrow(0, chunk_first(), rows_);
    const at::Tensor dx = rows("d hidden", plan.model.hidden);
    if (plan.decisions.gradients_home == Home::device) return add_embedding_rows(ids, dx, sums_.embedding);
    embedding_row_gradients().copy_(dx);
}

void Executor::State::add_embedding_rows(const at::Tensor& ids, const at::Tensor& rows,
                                         at::Tensor table) const {
    add_rows(ids, rows, table, embedding_scale_);
}

}  // namespace headroom::engine
