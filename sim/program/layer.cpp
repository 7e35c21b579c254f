#include "program/layer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "program/selection_scratch.h"

namespace headroom {
namespace {

int32_t narrow(int64_t v) {
    return static_cast<int32_t>(v);
}

int64_t tiles_of(int64_t tokens, int64_t tile) {
    return tile <= 0 || tile >= tokens ? 1 : ceil_div(tokens, tile);
}

// Of sums over the tokens of a chunk (weights of norms, biases, squares, losses): fp32 sums of at most 256
// parts of the tokens, for rows of `columns` values; 4 bytes a token; 1024 partial sums in fp64.
int64_t reduction_scratch(int64_t tokens, int64_t columns) {
    return std::max({256 * columns * 4, tokens * 4, int64_t{1024} * 8});
}

}  // namespace

LayerEmitter::LayerEmitter(const Plan& plan, StepBuilder& builder, int64_t tokens, int64_t longest_keys)
    : plan_(plan),
      builder_(builder),
      sizes_(plan),
      tokens_(tokens),
      train_all_(plan.recipe.lora_rank == 0),
      four_norms_(plan.model.norms_per_layer == 4) {
    const Decisions& d = plan.decisions;
    const int64_t e = sizes_.element, T = tokens, tile = d.mlp_tile.count();
    tiled_mlp_ = tile > 0 && tile < tokens;
    mlp_rows_ = tiled_mlp_ ? tile : tokens;
    int64_t gate_up = 0, routed = 0;
    for (const Layer& layer : plan.model.layers) {
        gate_up = std::max(gate_up, sizes_.gate_up(plan.model, layer));
        if (layer.mixture) routed = plan.model.experts.per_token;
    }
    make_small_buffers();
    const auto activations = [&](const char* name, int64_t bytes) {
        return builder_.scratch(name, Category::activations, bytes);
    };
    normed_ = activations("normed", T * sizes_.hidden * e);
    partial_ = longest_keys > 0
                   ? activations("attention of one segment", T * (sizes_.q * e + sizes_.heads * sizes_.sum))
                   : kNone;
    act_ = activations("activation", mlp_rows_ * (gate_up / 2) * e);
    permuted_ = routed > 0 ? activations("tokens by expert", mlp_rows_ * routed * sizes_.hidden * e) : kNone;
    d_normed_ = activations("d normed", T * sizes_.hidden * e);
    d_act_ = activations("d activation", mlp_rows_ * (gate_up / 2) * e);
    d_attention_ = activations("d attention", T * sizes_.q * e);
    d_qkv_ = activations("d qkv", T * (sizes_.q + 2 * sizes_.kv) * e);
    rotated_ = plan.model.qk_norm ? activations("rotated q and k", T * (sizes_.q + sizes_.kv) * e) : kNone;
    // What the A of the adapters beside each other give, and its gradient: at most q, k and v at once.
    const auto is_target = [&](const char* name) {
        const std::vector<std::string>& targets = plan.recipe.lora_targets;
        return std::find(targets.begin(), targets.end(), name) != targets.end() ? 1 : 0;
    };
    const int64_t beside = std::max({is_target("q") + is_target("k") + is_target("v"), is_target("o"),
                                     is_target("gate") + is_target("up"), is_target("down")});
    adapter_ = activations("adapter products", 2 * T * beside * plan.recipe.lora_rank * e);
    d_q_sum_ = longest_keys > 0 ? activations("d q summed", T * sizes_.q * sizes_.sum) : kNone;
    const int64_t loss_rows = d.loss_tile.count() == 0 ? T : std::min(T, d.loss_tile.count());
    logits_ = builder_.scratch("logits", Category::logits, loss_rows * sizes_.vocabulary * e);
    logits32_ =
        builder_.scratch("logits fp32", Category::logits, d.logits_fp32 * loss_rows * sizes_.vocabulary * 4);
    forward_ws_ = builder_.scratch("attention forward", Category::workspace, kAttentionForwardWorkspace);
    own_ws_ = builder_.scratch(
        "own attention backward", Category::workspace,
        attention_workspace(T, T, sizes_.heads, sizes_.head_dim, d.deterministic, false).count());
    if (longest_keys == 0) return;
    // Where no window cuts into the past, the heads of a group, which share their keys, are further queries.
    const bool windowed = std::any_of(plan.model.layers.begin(), plan.model.layers.end(),
                                      [&](const Layer& l) { return d.honour_windows && l.window > 0; });
    const bool packed = d.attention.sparse || !windowed;
    const int64_t block = d.attention.sparse ? std::min(d.attention.block, T) : T,
                  queries = ceil_div(T, block) * round_up(block * (sizes_.heads / sizes_.kv_heads), 128);
    const auto workspace = [&](int64_t rows, int64_t heads, bool is_packed) {
        return attention_workspace(rows, longest_keys, heads, sizes_.head_dim, d.deterministic, is_packed)
            .count();
    };
    past_ws_ = builder_.scratch("past attention backward", Category::workspace,
                                std::max(packed ? workspace(queries, sizes_.kv_heads, true) : 0,
                                         windowed ? workspace(T, sizes_.heads, false) : 0));
    if (packed)
        packed_ = builder_.scratch("packed queries", Category::workspace,
                                   packed_queries_bytes(T, sizes_.heads, sizes_.head_dim, e));
    if (d.attention.sparse)
        block_sums_ = builder_.scratch("sums by block", Category::workspace, T * sizes_.heads * 4);
}

void LayerEmitter::make_small_buffers() {
    const auto add = [&](const char* name, Category category, int64_t bytes) {
        builder_.buffer(name, Tier::device, category, bytes);
    };
    // Of all chunks in flight, one behind the other: cosines, then sines.
    add("rope tables", Category::activations,
        plan_.decisions.wavefront * rope_kinds(plan_.model) * rope_tables_of_kind(plan_.model) * tokens_ *
            sizes_.head_dim * sizes_.sum);
    add("targets", Category::activations, tokens_ * 8);
    add("loss and gradient norm", Category::activations, kAlignment);  // fp64, one value each
    // The widest rows that are summed: of the norms, and of the biases of q, k and v.
    const int64_t widest = std::max(sizes_.hidden, plan_.model.qkv_bias ? sizes_.q + 2 * sizes_.kv : 0);
    add("reduction scratch", Category::workspace, reduction_scratch(tokens_, train_all_ ? widest : 0));
}

LayerBuffers LayerEmitter::layer_buffers(const std::string& suffix, bool attention_by_copy) {
    const int64_t e = sizes_.element, T = tokens_;
    int64_t gate_up = 0;
    for (const Layer& layer : plan_.model.layers)
        gate_up = std::max(gate_up, sizes_.gate_up(plan_.model, layer));
    LayerBuffers b;
    const auto scratch = [&](const std::string& name, int64_t bytes) {
        return builder_.scratch(name + suffix, Category::activations, bytes);
    };
    b.x = scratch("x", T * sizes_.hidden * e);
    b.qkv = scratch("qkv", T * (sizes_.q + 2 * sizes_.kv) * e);
    const int64_t attention = T * (sizes_.q * e + sizes_.heads * sizes_.sum);
    b.attention =
        attention_by_copy
            ? builder_.buffer("attention" + suffix, Tier::device, Category::attention_outputs, attention)
            : builder_.scratch("attention" + suffix, Category::attention_outputs, attention);
    b.x_mid = scratch("x_mid", T * sizes_.hidden * e);
    b.gate_up = scratch("gate_up", mlp_rows_ * gate_up * e);
    if (four_norms_) {
        b.out = scratch("attention projected", T * sizes_.hidden * e);
        b.down = scratch("mlp projected", T * sizes_.hidden * e);
    }
    return b;
}

BufferId LayerEmitter::hidden(const std::string& name) {
    return builder_.scratch(name, Category::activations, tokens_ * sizes_.hidden * sizes_.element);
}

void LayerEmitter::during(BufferId buffer, OpId op) {
    if (buffer == kNone) return;
    builder_.take(buffer, op);
    builder_.release(buffer, op);
}

void LayerEmitter::await(OpId op) {
    if (op != kNone) pending_.push_back(op);
}

OpId LayerEmitter::compute(OpKind kind, uint32_t work, OpId wait, OpId wait2, int64_t piece) {
    assert(pending_.size() <= 6);
    const auto pending = [this](size_t i) { return i < pending_.size() ? pending_[i] : kNone; };
    const OpId id = builder_.op(
        Stream::compute, kind, work,
        {wait, wait2, pending(0), pending(1), pending(2), pending(3), pending(4), pending(5)}, piece);
    pending_.clear();
    return id;
}

const LayerEmitter::Works& LayerEmitter::works(const Layer& layer, int64_t tokens) {
    if (last_works_ < cache_.size() && cache_[last_works_].tokens == tokens &&
        cache_[last_works_].layer == layer) {
        return cache_[last_works_];
    }
    for (size_t i = 0; i < cache_.size(); ++i) {
        if (cache_[i].tokens == tokens && cache_[i].layer == layer) return cache_[last_works_ = i];
    }
    const Model& m = plan_.model;
    const RankSizes& s = sizes_;
    const int64_t T = tokens, H = s.hidden, e = s.element, qkv = s.q + 2 * s.kv;
    const bool windows = plan_.decisions.honour_windows;
    const int64_t window = windows ? layer.window : 0;
    const int32_t heads = narrow(s.heads), kv_heads = narrow(s.kv_heads), dim = narrow(s.head_dim);
    const int64_t seen = window > 0 && window < T ? static_cast<int64_t>(own_keys_seen(T, window)) : 0;
    // One GEMM of the MLP, or of experts that share the tokens evenly.
    const auto mlp_gemm = [&](bool accumulate, int64_t n, int64_t k) {
        if (!layer.mixture) return accumulate ? gemm_accumulate(n, k, T) : gemm(T, n, k);
        const int64_t groups = m.experts.count + m.experts.shared;
        const int64_t per_group =
            std::max<int64_t>(1, ceil_div(T * (m.experts.per_token + m.experts.shared), groups));
        return accumulate ? gemm_accumulate(n, k, per_group, narrow(groups))
                          : gemm(per_group, n, k, narrow(groups));
    };
    const int64_t I = layer.mixture ? s.expert_inner : s.inner;
    const int64_t gate_up = s.gate_up(m, layer);
    const auto id = [this](const Work& w) { return builder_.work(w); };

    Works w;
    w.layer = layer;
    w.tokens = T;
    w.norm = id(memory_bound(2 * T * H * e, Kernel::norm, T));
    // Behind a projection: adds the hidden state; its gradient goes to the projection alone.
    w.post_norm = w.post_norm_backward = id(memory_bound(3 * T * H * e, Kernel::post_norm, T));
    w.qkv = id(gemm(T, qkv, H));
    w.kv = id(gemm(T, 2 * s.kv, H));
    w.rope = id(memory_bound(2 * T * qkv * e, Kernel::rope, T));
    w.rope_store = id(memory_bound(2 * T * qkv * e, Kernel::rope_store, T));
    w.own = id(attention(false, false, true, T, T, heads, kv_heads, dim, 1, seen));
    w.merge = id(memory_bound(T * (3 * s.q * e + 3 * s.heads * s.sum), Kernel::merge, T));
    w.out = id(gemm(T, H, s.q));
    w.router = id(layer.mixture ? gemm(T, m.experts.count, H) : Work{});
    w.dispatch = id(layer.mixture ? memory_bound(2 * T * m.experts.per_token * H * e) : Work{});
    w.gate_up = id(mlp_gemm(false, 2 * I, H));
    w.activation = id(memory_bound(T * (gate_up + gate_up / 2) * e, Kernel::activation, T));
    w.down = id(mlp_gemm(false, H, I));

    w.own_backward =
        id(attention(true, plan_.decisions.deterministic, true, T, T, heads, kv_heads, dim, 1, seen));
    w.out_backward = id(gemm(T, s.q, H));
    w.out_gradient = id(gemm_accumulate(H, s.q, T));
    w.router_backward = id(layer.mixture ? gemm(T, H, m.experts.count) : Work{});
    w.gate_up_backward = id(mlp_gemm(false, H, 2 * I));
    w.gate_up_gradient = id(mlp_gemm(true, 2 * I, H));
    w.down_backward = id(mlp_gemm(false, I, H));
    w.down_gradient = id(mlp_gemm(true, H, I));
    w.activation_backward =
        id(memory_bound(T * (2 * gate_up + gate_up / 2) * e, Kernel::activation_backward, T));
    w.norm_backward = id(memory_bound(4 * T * H * e, Kernel::norm_backward, T));
    // The norms of q and k read what they were applied to.
    const int64_t before_norms = m.qk_norm ? (s.q + s.kv) * e : 0;
    w.rope_backward =
        id(memory_bound(T * (2 * qkv * e + s.q * s.sum + before_norms), Kernel::rope_backward, T));
    w.qkv_backward = id(gemm(T, H, qkv));
    w.qkv_gradient = id(gemm_accumulate(qkv, H, T));

    struct Adapters {
        int64_t targets = 0, in = 0, out = 0;  // sizes of all targets together
        void add(int64_t from, int64_t to) { ++targets, in += from, out += to; }
    };
    Adapters qkv_a, out_a, up_a, down_a;
    for (const std::string& t : plan_.recipe.lora_targets) {
        if (t == "q") qkv_a.add(H, s.q);
        if (t == "k" || t == "v") qkv_a.add(H, s.kv);
        if (t == "o") out_a.add(s.q, H);
        if (layer.mixture) continue;
        if (t == "gate" || t == "up") up_a.add(H, I);
        if (t == "down") down_a.add(I, H);
    }
    const int64_t r = plan_.recipe.lora_rank;
    // Forward: x A^T and then B; backward: x A^T again, the gradients of A, B, x and of x A^T.
    const auto lora_forward = [&](const Adapters& a) {
        return id(a.targets > 0 ? gemm(T, a.in + a.out, r) : Work{});
    };
    const auto lora_backward = [&](const Adapters& a) {
        return id(a.targets > 0 ? gemm(T, 3 * a.in + 2 * a.out, r) : Work{});
    };
    w.lora_qkv_targets = qkv_a.targets, w.lora_out_targets = out_a.targets;
    w.lora_up_targets = up_a.targets, w.lora_down_targets = down_a.targets;
    w.lora_qkv = lora_forward(qkv_a);
    w.lora_out = lora_forward(out_a);
    w.lora_up = lora_forward(up_a);
    w.lora_down = lora_forward(down_a);
    w.lora_qkv_b = lora_backward(qkv_a);
    w.lora_out_b = lora_backward(out_a);
    w.lora_up_b = lora_backward(up_a);
    w.lora_down_b = lora_backward(down_a);
    cache_.push_back(w);
    return cache_[last_works_ = cache_.size() - 1];
}

void LayerEmitter::lora(uint32_t work, int64_t targets, bool backward, int64_t tile) {
    if (train_all_ || targets == 0) return;
    const OpId op = compute(backward ? OpKind::lora_backward : OpKind::lora, work, kNone, kNone, tile);
    builder_.take(adapter_, op);
    builder_.release(adapter_, op);
}

void LayerEmitter::all_reduce(int64_t tokens) {
    const int64_t ranks = plan_.decisions.tensor_ranks;
    if (ranks == 1) return;
    const uint32_t work = builder_.work(
        collective(WorkKind::all_reduce, tokens * sizes_.hidden * sizes_.element, narrow(ranks)));
    await(builder_.op(Stream::peer, OpKind::all_reduce, work, {builder_.last_compute()}));
}

void LayerEmitter::embed(int64_t tokens, BufferId x, OpId wait) {
    const OpId op = compute(
        OpKind::embed,
        builder_.work(memory_bound(2 * tokens * sizes_.hidden * sizes_.element, Kernel::embed, tokens)),
        wait);
    builder_.take(x, op);
    all_reduce(tokens);
}

OpId LayerEmitter::project(const Layer& layer, int64_t tokens, const LayerBuffers& b, OpId wait) {
    const Works& w = works(layer, tokens);
    OpId op = compute(OpKind::norm, w.norm, wait);
    builder_.take(normed_, op);
    op = compute(OpKind::qkv, w.qkv);
    builder_.take(b.qkv, op);
    lora(w.lora_qkv, w.lora_qkv_targets);
    builder_.release(normed_, builder_.last_compute());
    op = compute(OpKind::rope, builder_.pass == Pass::fill ? w.rope_store : w.rope);
    builder_.take(rotated_, op);
    return op;
}

void LayerEmitter::rotate_again(const Layer& layer, int64_t tokens) {
    if (rotated_ != kNone) builder_.take(rotated_, compute(OpKind::rope, works(layer, tokens).rope));
}

void LayerEmitter::release_rotated(OpId op) {
    builder_.release(rotated_, op);
}

OpId LayerEmitter::project_kv(const Layer& layer, int64_t tokens, const LayerBuffers& b, OpId wait) {
    const Works& w = works(layer, tokens);
    OpId op = compute(OpKind::norm, w.norm, wait);
    builder_.take(normed_, op);
    op = compute(OpKind::qkv, w.kv);
    builder_.take(b.qkv, op);
    builder_.release(normed_, op);
    op = compute(OpKind::rope, builder_.pass == Pass::fill ? w.rope_store : w.rope);
    builder_.take(rotated_, op);
    builder_.release(rotated_, op);
    builder_.release(b.qkv, op);
    return op;
}

OpId LayerEmitter::attend_own(const Layer& layer, int64_t tokens, const LayerBuffers& b) {
    const OpId op = compute(OpKind::attention_own, works(layer, tokens).own);
    builder_.take(b.attention, op);
    during(forward_ws_, op);
    return op;
}

uint32_t LayerEmitter::past_work(bool backward, int64_t tokens, int64_t keys, double keys_seen, bool packs) {
    const std::array<int64_t, 4> key{backward + 2 * packs, tokens, keys, static_cast<int64_t>(keys_seen)};
    const size_t recent = std::min<size_t>(past_cache_.size(), 8);
    for (size_t i = past_cache_.size() - recent; i < past_cache_.size(); ++i) {
        if (past_cache_[i].first == key) return past_cache_[i].second;
    }
    const Decisions& d = plan_.decisions;
    const bool deterministic = backward && d.deterministic;
    const int32_t heads = narrow(sizes_.heads), kv_heads = narrow(sizes_.kv_heads),
                  dim = narrow(sizes_.head_dim);
    const int64_t block = d.attention.sparse ? std::min(d.attention.block, tokens) : tokens;
    Work work;
    if (block < tokens) {
        work = block_attention(backward, deterministic, block, keys, heads, kv_heads, dim,
                               narrow(ceil_div(tokens, block)));
        // The last block may be shorter.
        const double seen = keys_seen > 0 ? keys_seen : static_cast<double>(checked_mul(tokens, keys));
        work.flops = checked_mul((backward ? 10 : 4) * static_cast<int64_t>(seen), heads * dim);
    } else {
        const int64_t calls = ceil_div(keys, d.segment.count());
        work = attention(backward, deterministic, false, tokens, ceil_div(keys, calls), heads, kv_heads, dim,
                         narrow(calls), static_cast<int64_t>(keys_seen));
    }
    if (packs) work.packed = packed_bytes(tokens, sizes_.heads, sizes_.head_dim, sizes_.element);
    const uint32_t id = builder_.work(work);
    if (past_cache_.size() >= 64) past_cache_.clear();
    past_cache_.emplace_back(key, id);
    return id;
}

OpId LayerEmitter::attend_past(int64_t tokens, int64_t keys, double keys_seen, OpId wait, int64_t piece) {
    const OpId read =
        compute(OpKind::attention_past, past_work(false, tokens, keys, keys_seen, false), wait, kNone, piece);
    builder_.take(partial_, read);
    during(forward_ws_, read);
    during(block_sums_, read);
    const uint32_t merge = builder_.work(memory_bound(
        tokens * (3 * sizes_.q * sizes_.element + 3 * sizes_.heads * sizes_.sum), Kernel::merge, tokens));
    builder_.release(partial_, compute(OpKind::merge, merge, kNone, kNone, piece));
    return read;
}

OpId LayerEmitter::attention_out(const Layer& layer, int64_t tokens, const LayerBuffers& b, bool keep_out,
                                 OpId wait) {
    const Works& w = works(layer, tokens);
    builder_.take(four_norms_ ? b.out : b.x_mid, compute(OpKind::attention_out, w.out, wait));
    lora(w.lora_out, w.lora_out_targets);
    all_reduce(tokens);
    if (!four_norms_) return builder_.last_compute();
    const OpId op = compute(OpKind::norm, w.post_norm);
    builder_.take(b.x_mid, op);
    if (!keep_out) builder_.release(b.out, op);
    return op;
}

void LayerEmitter::head(int64_t tokens, BufferId x, BufferId dx, bool forward_only, OpId wait) {
    const int64_t H = sizes_.hidden, V = sizes_.vocabulary, e = sizes_.element;
    const int64_t tiles = tiles_of(tokens, plan_.decisions.loss_tile.count());
    const int64_t rows = ceil_div(tokens, tiles);
    const uint32_t norm = builder_.work(memory_bound(2 * tokens * H * e, Kernel::norm, tokens));
    OpId op = compute(OpKind::norm, norm, wait);
    builder_.take(normed_, op);
    op = compute(OpKind::head, builder_.work(gemm(rows, V, H, narrow(tiles))));
    builder_.take(logits_, op);
    // Softmax and its gradient in place: read, write; with fp32 copies those are written and read as well.
    const int64_t touched = tokens * V * (3 * e + 8 * plan_.decisions.logits_fp32);
    op = compute(OpKind::loss, builder_.work(memory_bound(touched, Kernel::loss, tokens)));
    builder_.take(logits32_, op);
    if (forward_only) {
        if (logits32_ != kNone) builder_.release(logits32_, op);
        builder_.release(logits_, op);
        builder_.release(normed_, op);
        return;
    }
    if (train_all_) {
        compute(OpKind::weight_gradient, builder_.work(gemm_accumulate(V, H, rows, narrow(tiles))));
    }
    op = compute(OpKind::head_backward, builder_.work(gemm(rows, H, V, narrow(tiles))));
    builder_.take(d_normed_, op);
    if (logits32_ != kNone) builder_.release(logits32_, op);
    builder_.release(logits_, op);
    all_reduce(tokens);
    op = compute(OpKind::norm_backward,
                 builder_.work(memory_bound(4 * tokens * H * e, Kernel::norm_backward, tokens)));
    builder_.take(dx, op);
    builder_.release(d_normed_, op);
    builder_.release(normed_, op);
    builder_.release(x, op);
}

int64_t LayerEmitter::kv_bytes(int64_t keys) const {
    return bytes_of(plan_.decisions.kv, 2 * keys * sizes_.kv).count();
}
int64_t LayerEmitter::kv_gradient_bytes(int64_t keys) const {
    return bytes_of(plan_.decisions.kv_gradients, 2 * keys * sizes_.kv).count();
}
int64_t LayerEmitter::emission_bytes(int64_t keys) const {
    return 2 * keys * sizes_.kv * sizes_.element;
}

void LayerEmitter::reserve_past(int64_t emission_keys, int64_t gathered_keys) {
    emission_ =
        builder_.scratch("dK and dV of one piece", Category::activations, emission_bytes(emission_keys));
    gathered_ = builder_.scratch("gathered pages", Category::staging, emission_bytes(gathered_keys));
}

OpId LayerEmitter::gather(int64_t keys, int64_t piece) {
    const uint32_t work =
        builder_.work(memory_bound(kv_bytes(keys) + emission_bytes(keys), Kernel::gather_pages, keys));
    const OpId op = compute(OpKind::gather_pages, work, kNone, kNone, piece);
    builder_.take(gathered_, op);
    return op;
}

void LayerEmitter::release_gathered(OpId op) {
    if (builder_.live(gathered_)) builder_.release(gathered_, op);
}

}  // namespace headroom
