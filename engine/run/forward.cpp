// The forward ops of a step.
#include <cmath>

#include "run/step_state.h"

namespace headroom::engine {

void Executor::State::embed() {
    const at::Tensor ids = tokens_.select(0, sequence_).narrow(0, chunk_first(), rows_);
    at::Tensor x = rows(pass_ == Pass::fill ? hidden() : layer_input(0), plan.model.hidden);
    backward_ = false;
    if (plan.decisions.weights_home == Home::host) {
        x.copy_(embedding_rows());
    } else {
        at::index_select_out(x, parameters_.embedding, 0, ids);
    }
    if (embedding_scale_ != 1) x.mul_(embedding_scale_);
    next_norm_ = Norm::attention;
}

void Executor::State::norm() {
    const NormRule rule = norm_rule();
    const at::Tensor normed = rows("normed", plan.model.hidden);
    const auto add_normed = [&](const at::Tensor& x, const at::Tensor& weight, const at::Tensor& residual,
                                at::Tensor out) {
        if (out.data_ptr() != residual.data_ptr()) out.copy_(residual);
        rms_norm(x, weight, rule, out, true);
    };
    if (layer_ < 0)
        return rms_norm(rows("hidden 0", plan.model.hidden), parameters_.final_norm, rule, normed);
    const LayerViews& v = layer_views();
    switch (next_norm_) {
        case Norm::attention:
            return rms_norm(v.x, w().input_norm, rule, normed);
        case Norm::post_attention:
            next_norm_ = Norm::mlp;
            return add_normed(v.out, w().post_attention_norm, v.x, v.x_mid);
        case Norm::mlp:
            return rms_norm(v.x_mid, w().mlp_norm, rule, normed);
        case Norm::post_mlp:
            next_norm_ = Norm::attention;
            return add_normed(v.down, w().post_mlp_norm, v.x_mid, layer_output());
    }
}

void Executor::State::qkv() {
    projection_ = Projection::qkv;
    at::Tensor out = layer_views().qkv;
    const at::Tensor in = rows("normed", plan.model.hidden);
    if (w().qkv_bias.defined()) {
        at::addmm_out(out, w().qkv_bias, in, w().qkv.t());
    } else {
        at::mm_out(out, in, w().qkv.t());
    }
}

Span Executor::State::span_of(int64_t key_at) const {
    return {chunk_first(), key_at, plan.decisions.honour_windows ? layer().window : 0};
}

void Executor::State::attention_own() {
    const LayerViews& v = layer_views();
    attention_forward(v.q, v.k, v.v, span_of(chunk_first()), v.attention, v.lse, whole("attention forward"));
    if (w().sinks.defined()) attention_sink(v.attention, v.lse, w().sinks);
}

void Executor::State::attention_past(const Op& op) {
    if (selects_pages(plan, layer_)) return attend_selected();
    const LayerViews& v = layer_views();
    const auto part = attention_in("attention of one segment");
    const PastPiece piece = piece_of(op, false);
    const at::Tensor workspace = whole("attention forward");
    visit_past(piece, [&](const at::Tensor& k, const at::Tensor& value, int64_t at, int64_t) {
        if (partial_pending_) merge();
        attention_forward(v.q, k, value, span_of(at), part.first, part.second, workspace);
        partial_pending_ = true;
    });
}

void Executor::State::merge() {
    if (!partial_pending_) return keep_outputs_or_inputs();
    const auto [part, part_lse] = attention_in("attention of one segment");
    attention_merge(layer_views().attention, layer_views().lse, part, part_lse);
    partial_pending_ = false;
}

void Executor::State::attention_out() {
    const LayerViews& v = layer_views();
    at::Tensor out = four_norms_ ? v.out : v.x_mid;
    if (four_norms_) {
        at::mm_out(out, v.attention.flatten(1), w().out.t());
    } else {
        if (out.data_ptr() != v.x.data_ptr()) out.copy_(v.x);
        out.addmm_(v.attention.flatten(1), w().out.t());
    }
    if (w().out_bias.defined()) out.add_(w().out_bias);
    projection_ = Projection::out;
    next_norm_ = four_norms_ ? Norm::post_attention : Norm::mlp;
}

at::Tensor Executor::State::layer_output() const {
    const bool last = layer_ + 1 == plan.model.layer_count();
    return rows(pass_ == Pass::fill || last ? hidden() : layer_input(layer_ + 1), plan.model.hidden);
}

void Executor::State::down() {
    const LayerViews& v = layer_views();
    const at::Tensor activation = tile_rows("activation", plan.model.intermediate);
    projection_ = Projection::down;
    if (four_norms_) {
        at::Tensor out = of_tile(v.down);
        next_norm_ = Norm::post_mlp;
        at::mm_out(out, activation, w().down.t());
        return;
    }
    at::Tensor out = of_tile(layer_output());
    const at::Tensor residual = of_tile(v.x_mid);
    if (out.data_ptr() != residual.data_ptr()) out.copy_(residual);
    out.addmm_(activation, w().down.t());
    next_norm_ = Norm::attention;
}

void Executor::State::multiply(Projection projection, at::Tensor out, const at::Tensor& left,
                               const at::Tensor& right) {
    at::mm_out(out, left, right);
    projection_ = projection;
}

// The adapters of the projection that was just computed: adds to its output, or backward to the gradient of
// its input.
void Executor::State::adapt(bool backward) {
    const Model& m = plan.model;
    const size_t index = static_cast<size_t>(projection_), layer = static_cast<size_t>(layer_);
    const AdapterGroup& group = adapters_[layer][index];
    at::Tensor x, y, d_x;
    switch (projection_) {
        case Projection::qkv:
            x = rows("normed", m.hidden);
            y = backward ? rows("d qkv", m.q_size() + 2 * m.kv_size()) : layer_views().qkv;
            break;
        case Projection::out:
            x = layer_views().attention.flatten(1);
            y = backward ? d_projected() : four_norms_ ? layer_views().out : layer_views().x_mid;
            break;
        case Projection::gate_up:
            x = of_tile(rows("normed", m.hidden));
            y = gate_up();  // backward its own gradient
            break;
        case Projection::down:
            x = tile_rows("activation", m.intermediate);
            y = of_tile(backward ? d_projected() : four_norms_ ? layer_views().down : layer_output());
            break;
    }
    const double scale = plan.recipe.lora_alpha / static_cast<double>(plan.recipe.lora_rank);
    const int64_t ranks = group.a.size(0);
    const at::Tensor inner = view("adapter products", {x.size(0), ranks}, type_);
    if (!backward) return adapter_forward(group, scale, x, y, inner);
    const at::Tensor d_inner = view("adapter products", {x.size(0), ranks}, type_, inner.numel() * element());
    switch (projection_) {
        case Projection::qkv:
            d_x = rows("d normed", m.hidden);
            break;
        case Projection::gate_up:
            d_x = of_tile(rows("d normed", m.hidden));
            break;
        case Projection::out:
            d_x = rows("d attention", m.q_size());
            break;
        case Projection::down:
            d_x = tile_rows("d activation", m.intermediate);
            break;
    }
    adapter_backward(group, scale, x, y, d_x, adapter_sums_[layer][index], inner, d_inner);
}

at::Tensor Executor::State::chunk_targets() const {
    const at::Tensor targets = view("targets", {rows_}, at::kLong);
    const int64_t first = chunk_first() + 1, count = std::min(rows_, plan.context.count() - first);
    targets.narrow(0, 0, count).copy_(tokens_.select(0, sequence_).narrow(0, first, count));
    targets.narrow(0, count, rows_ - count).fill_(-1);
    return targets;
}

// Logits, loss and their gradients, one tile of tokens after the other, so that only one tile of logits
// exists. The ops loss, weight_gradient and head_backward that follow are part of it, and get their share of
// its time.
void Executor::State::head() {
    const int64_t tile = plan.decisions.loss_tile.count() == 0 ? rows_ : plan.decisions.loss_tile.count();
    const at::Tensor normed = rows("normed", plan.model.hidden);
    const at::Tensor d_normed = rows("d normed", plan.model.hidden);
    const at::Tensor targets = chunk_targets();
    const OpId loss = op_ + 1, gradient = op_ + 2, back = sums_.head.defined() ? op_ + 3 : op_ + 2;
    TORCH_CHECK(program.ops.at(back).kind == OpKind::head_backward, "another order of the head's ops");
    backward_ = true;
    next_norm_ = first_norm_backward();
    for (int64_t at = 0; at < rows_; at += tile) {
        const int64_t count = std::min(tile, rows_ - at);
        const at::Tensor in = normed.narrow(0, at, count);
        at::Tensor logits = view("logits", {count, plan.model.vocabulary}, type_);
        at::mm_out(logits, in, parameters_.head.t());
        streams->lap(op_);
        cross_entropy(logits, targets.narrow(0, at, count), target_scale_, loss_sum_, scratch_);
        streams->lap(loss);
        if (sums_.head.defined()) {
            add_product(sums_.head, logits, in);
            streams->lap(gradient);
        }
        at::Tensor d = d_normed.narrow(0, at, count);
        at::mm_out(d, logits, parameters_.head);
        streams->lap(back);
    }
}

}  // namespace headroom::engine
