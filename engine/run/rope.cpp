// Rotation of queries and keys, and back; after it a chunk's K and V are final and go to their pages.
#include <cmath>

#include "run/step_state.h"

namespace headroom::engine {

void Executor::State::find_rope() {
    const Model& m = plan.model;
    const int64_t kinds = rope_kinds(m), kind = kinds == 2 && layer().window > 0 ? 1 : 0;
    KnownRope& known = ropes_[static_cast<size_t>(chunk_ % plan.decisions.wavefront * kinds + kind)];
    if (known.chunk != chunk_) {
        const int64_t half = m.head_dim / 2, tables = rope_tables_of_kind(m),
                      bytes = full_rows() * half * static_cast<int64_t>(c10::elementSize(sum_));
        const auto table = [&](int64_t index) {
            const int64_t place = (&known - ropes_.data()) * tables + index;
            return RopeTable{view("rope tables", {rows_, half}, sum_, 2 * place * bytes),
                             view("rope tables", {rows_, half}, sum_, (2 * place + 1) * bytes)};
        };
        known.keys = known.queries = table(0);
        fill_rope_table(m, layer(), chunk_first(), known.keys);
        if (tables == 2) {
            // Scores are scaled by head_dim^-1/2; where the model says otherwise, the queries make up for it.
            const double scale = std::sqrt(static_cast<double>(m.head_dim) / m.query_scalar);
            known.queries = table(1);
            known.queries.cos.copy_(known.keys.cos).mul_(scale);
            known.queries.sin.copy_(known.keys.sin).mul_(scale);
        }
        known.chunk = chunk_;
    }
    rope_ = known.keys;
    rope_q_ = known.queries;
}

Result<void> Executor::State::rope() {
    const LayerViews& v = layer_views();
    find_rope();
    if (plan.model.qk_norm) {
        rms_norm(v.raw_q, w().q_norm, norm_rule(), v.q);
        rms_norm(v.raw_k, w().k_norm, norm_rule(), v.k);
    }
    engine::rope(v.q, rope_q_, false);
    engine::rope(v.k, rope_, false);
    if (pass_ != Pass::fill || chunk_ + 1 >= plan.chunks() || visible_past(plan, chunk_ + 1, layer_) == 0)
        return {};
    // The chunk's K and V are final: to their pages, or to the slot that they leave the device from.
    if (kv_place(chunk_) != PastPlace::device) {
        const int64_t first = chunk_first() / plan.decisions.page.count();
        write_pages(v.k, slot_view(PageKind::kv, own_slots_.slot(), 0, 0, rows_), 0, first);
        write_pages(v.v, slot_view(PageKind::kv, own_slots_.slot(), 1, 0, rows_), 1, first);
        // Later chunks' enter the cache once what it holds was read.
        if (chunk_ == 0 && selects_pages(plan, layer_)) cache_own_pages(own_slots_.slot());
        return {};
    }
    const int64_t page = plan.decisions.page.count(), first = chunk_first() / page;
    const int64_t last = first + ceil_div(rows_, page);
    for (int64_t p = first; p < last; ++p) HEADROOM_CHECK(pages_.take(PageKind::kv, layer_, p));
    for (const PageRun& run : pages_.runs(PageKind::kv, layer_, first, last)) {
        const at::Tensor k = page_view(PageKind::kv, run, 0), value = page_view(PageKind::kv, run, 1);
        const int64_t at = run.first * unit_tokens(PageKind::kv) - chunk_first(),
                      count = std::min(k.size(0), rows_ - at);
        const int64_t of_run = run.first / pages_.parts(PageKind::kv);
        write_pages(v.k.narrow(0, at, count), k, 0, of_run);
        write_pages(v.v.narrow(0, at, count), value, 1, of_run);
    }
    return {};
}

void Executor::State::rope_backward() {
    const Model& m = plan.model;
    const at::Tensor d_qkv = rows("d qkv", m.q_size() + 2 * m.kv_size());
    const at::Tensor d_q = d_qkv.narrow(1, 0, m.q_size()).unflatten(1, {m.heads, m.head_dim}),
                     d_k = d_qkv.narrow(1, m.q_size(), m.kv_size()).unflatten(1, {m.kv_heads, m.head_dim});
    if (!d_q_fresh_) d_q.add_(view("d q summed", {rows_, m.heads, m.head_dim}, sum_));
    find_rope();
    engine::rope(d_q, rope_q_, true);
    engine::rope(d_k, rope_, true);
    next_norm_ = Norm::attention;
    if (!m.qk_norm) return;
    const LayerViews& v = layer_views();
    rms_norm_backward(v.raw_q, w().q_norm, norm_rule(), d_q, d_q, false, g().q_norm, scratch_);
    rms_norm_backward(v.raw_k, w().k_norm, norm_rule(), d_k, d_k, false, g().k_norm, scratch_);
}

}  // namespace headroom::engine
