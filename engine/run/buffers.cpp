// Where things stand in the arenas: buffers by name, and the views of them that a layer works on.
#include "run/step_state.h"

namespace headroom::engine {

const Buffer* Executor::State::find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &program.buffers[at->second];
}

const Buffer& Executor::State::need(const std::string& name) const {
    const Buffer* b = find(name);
    TORCH_CHECK(b != nullptr, "the program has no buffer '", name, "'");
    return *b;
}

std::byte* Executor::State::data(const Buffer& b) const {
    return static_cast<std::byte*>((b.tier == Tier::device ? arena : host).data_ptr()) + b.address;
}

at::Tensor Executor::State::view(const std::string& name, at::IntArrayRef sizes, at::ScalarType type,
                                 int64_t offset) const {
    const Buffer& b = need(name);
    int64_t elements = 1;
    for (const int64_t s : sizes) elements *= s;
    const int64_t bytes = elements * static_cast<int64_t>(c10::elementSize(type));
    TORCH_CHECK(offset + bytes <= b.bytes, "buffer '", name, "' has ", b.bytes, " bytes, not ",
                offset + bytes);
    // target_device: else ATen asks CUDA where the memory lies.
    const at::Tensor& tier = b.tier == Tier::device ? arena : host;
    return at::for_blob(data(b) + offset, sizes)
        .options(tier.options().dtype(type))
        .target_device(tier.device())
        .make_tensor();
}

at::Tensor Executor::State::rows(const std::string& name, int64_t columns) const {
    return view(name, {rows_, columns}, type_);
}

Executor::State::Tile Executor::State::mlp_tile() const {
    const int64_t tile = plan.decisions.mlp_tile.count();
    if (tile == 0) return {0, rows_};
    const int64_t first = program.ops[op_].piece * tile;
    return {first, std::min(tile, rows_ - first)};
}

at::Tensor Executor::State::of_tile(const at::Tensor& chunk) const {
    const Tile tile = mlp_tile();
    return chunk.narrow(0, tile.first, tile.rows);
}

at::Tensor Executor::State::tile_rows(const std::string& name, int64_t columns) const {
    return view(name, {mlp_tile().rows, columns}, type_);
}

at::Tensor Executor::State::gate_up() {
    return layer_views().gate_up.narrow(0, 0, mlp_tile().rows);
}

at::Tensor Executor::State::whole(const std::string& name) const {
    return view(name, {need(name).bytes}, at::kByte);
}

std::string Executor::State::of_layer(const char* name, int64_t layer) const {
    return std::string(name) + " of layer " + std::to_string(layer);
}

std::pair<at::Tensor, at::Tensor> Executor::State::attention_in(const std::string& name,
                                                                int64_t offset) const {
    // Buffers are sized for a full chunk; the log-sum-exp stands behind all of its outputs.
    const Model& m = plan.model;
    return {view(name, {rows_, m.heads, m.head_dim}, type_, offset),
            view(name, {m.heads, rows_}, sum_, offset + full_rows() * m.q_size() * element()).t()};
}

int64_t Executor::State::full_rows() const {
    return std::min(plan.decisions.chunk.count(), plan.context.count());
}

int64_t Executor::State::output_bytes() const {
    const Model& m = plan.model;
    return full_rows() * (m.q_size() * element() + m.heads * static_cast<int64_t>(c10::elementSize(sum_)));
}

int64_t Executor::State::output_offset() const {
    return (chunk_ * plan.model.layer_count() + layer_) * output_bytes();
}

bool Executor::State::keeps_outputs() const {
    const AttentionOutputs kept = plan.decisions.attention_outputs;
    return chunk_ + 1 < plan.chunks() && (kept == AttentionOutputs::device || kept == AttentionOutputs::host);
}

std::string Executor::State::hidden() const {
    return "hidden " + std::to_string(pass_ == Pass::fill ? chunk_ % plan.decisions.wavefront : 0);
}

std::string Executor::State::layer_input(int64_t layer) const {
    return plan.decisions.activations == Activations::checkpoint_host ? "x" : of_layer("x", layer);
}

LayerViews Executor::State::make_views(const std::string& x, const std::string& qkv,
                                       std::pair<at::Tensor, at::Tensor> attention, const std::string& x_mid,
                                       const std::string& gate_up) const {
    const Model& m = plan.model;
    const int64_t Q = m.q_size(), KV = m.kv_size(), d = m.head_dim;
    LayerViews v;
    v.x = rows(x, m.hidden);
    v.x_mid = rows(x_mid, m.hidden);
    v.qkv = rows(qkv, Q + 2 * KV);
    v.raw_q = v.q = v.qkv.narrow(1, 0, Q).unflatten(1, {m.heads, d});
    v.raw_k = v.k = v.qkv.narrow(1, Q, KV).unflatten(1, {m.kv_heads, d});
    if (m.qk_norm) {
        const at::Tensor rotated = rows("rotated q and k", Q + KV);
        v.q = rotated.narrow(1, 0, Q).unflatten(1, {m.heads, d});
        v.k = rotated.narrow(1, Q, KV).unflatten(1, {m.kv_heads, d});
    }
    v.v = v.qkv.narrow(1, Q + KV, KV).unflatten(1, {m.kv_heads, d});
    std::tie(v.attention, v.lse) = std::move(attention);
    const int64_t tile = plan.decisions.mlp_tile.count();
    v.gate_up = view(gate_up, {tile == 0 ? rows_ : std::min(tile, rows_), 2 * m.intermediate}, type_);
    return v;
}

// As program/chunk_step.cpp lays them out.
const LayerViews& Executor::State::layer_views() {
    if (views_known_) return views_;
    const Decisions& d = plan.decisions;
    const std::string attention = of_layer("attention", layer_);
    if (pass_ == Pass::fill) {
        // What the gradient pass will read is computed where it is kept, or where its copy begins.
        auto out = attention_in(
            !keeps_outputs()                                ? "attention"
            : d.attention_outputs == AttentionOutputs::host ? output_slots_.slot()
                                                            : "attention outputs of the fill pass",
            keeps_outputs() && d.attention_outputs == AttentionOutputs::device ? output_offset() : 0);
        views_ = make_views(hidden(), "qkv", std::move(out), hidden(), "gate_up");
    } else if (d.activations == Activations::keep) {
        const bool tiled = d.mlp_tile.count() > 0 && d.mlp_tile.count() < full_rows();
        views_ = make_views(layer_input(layer_), of_layer("qkv", layer_), attention_in(attention),
                            of_layer("x_mid", layer_), tiled ? "gate_up" : of_layer("gate_up", layer_));
    } else {
        const bool kept = d.attention_outputs != AttentionOutputs::recompute;
        const bool loaded = backward_ && d.activations == Activations::checkpoint_host;
        views_ = make_views(loaded ? input_slot_ : layer_input(layer_), "qkv",
                            attention_in(kept ? attention : "attention"), "x_mid", "gate_up");
    }
    if (four_norms_) {
        const bool kept = pass_ != Pass::fill && d.activations == Activations::keep;
        const auto name = [&](const char* base) { return kept ? of_layer(base, layer_) : base; };
        views_.out = rows(name("attention projected"), plan.model.hidden);
        views_.down = rows(name("mlp projected"), plan.model.hidden);
    }
    views_known_ = true;
    return views_;
}

}  // namespace headroom::engine
