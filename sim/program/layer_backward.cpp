// The backward ops of a layer and of the embedding.
#include "program/layer.h"

namespace headroom {

void LayerEmitter::mlp_backward(const Layer& layer, int64_t tokens, const LayerBuffers& b, OpId wait,
                                OpId gradient_wait) {
    await(wait);
    if (four_norms_) {
        const OpId op = compute(OpKind::norm_backward, works(layer, tokens).post_norm_backward);
        builder_.take(d_normed_, op);
        builder_.release(b.down, op);
    }
    if (!tiled_mlp_) {
        mlp_tile_backward(layer, tokens, 0, b, gradient_wait);
    } else {
        mlp_norm(layer, tokens);
        for_each_mlp_tile(tokens, [&](int64_t rows, int64_t tile) {
            gate_up(layer, rows, tile, b);
            mlp_tile_backward(layer, rows, tile, b, tile == 0 ? gradient_wait : kNone);
        });
    }
    all_reduce(tokens);
    const OpId op = compute(OpKind::norm_backward, works(layer, tokens).norm_backward);
    builder_.release(normed_, op);
    builder_.release(d_normed_, op);
    builder_.release(b.x_mid, op);
}

void LayerEmitter::mlp_tile_backward(const Layer& layer, int64_t rows, int64_t tile, const LayerBuffers& b,
                                     OpId gradient_wait) {
    const Works& w = works(layer, rows);
    const auto emit = [&](OpKind kind, uint32_t work, OpId after = kNone) {
        return compute(kind, work, after, kNone, tile);
    };
    builder_.take(act_, emit(OpKind::activation, w.activation));
    if (train_all_) emit(OpKind::weight_gradient, w.down_gradient, gradient_wait);
    builder_.take(d_act_, emit(OpKind::down_backward, w.down_backward));
    lora(w.lora_down_b, w.lora_down_targets, true, tile);
    builder_.release(act_, builder_.last_compute());
    // Rows of a tile are read, then overwritten: with tiles the buffer holds both.
    if (four_norms_ && !tiled_mlp_) builder_.release(d_normed_, builder_.last_compute());
    builder_.release(d_act_, emit(OpKind::activation_backward, w.activation_backward));
    if (!tiled_mlp_) {  // else it was made again for gate_up
        builder_.take(normed_, emit(OpKind::norm, w.norm));
        if (layer.mixture) builder_.take(permuted_, emit(OpKind::activation, w.dispatch));
    }
    if (train_all_) emit(OpKind::weight_gradient, w.gate_up_gradient);
    builder_.take(d_normed_, emit(OpKind::gate_up_backward, w.gate_up_backward));
    lora(w.lora_up_b, w.lora_up_targets, true, tile);
    if (layer.mixture) {
        emit(OpKind::activation_backward, w.dispatch);
        builder_.release(permuted_, emit(OpKind::router_backward, w.router_backward));
    }
    builder_.release(b.gate_up, builder_.last_compute());
}

void LayerEmitter::own_attention_backward(const Layer& layer, int64_t tokens, const LayerBuffers& b) {
    const Works& w = works(layer, tokens);
    if (four_norms_) {
        const OpId op = compute(OpKind::norm_backward, w.post_norm_backward);
        builder_.take(d_normed_, op);
        builder_.release(b.out, op);
    }
    if (train_all_) compute(OpKind::weight_gradient, w.out_gradient);
    OpId op = compute(OpKind::attention_out_backward, w.out_backward);
    builder_.take(d_attention_, op);
    lora(w.lora_out_b, w.lora_out_targets, true);
    if (four_norms_) builder_.release(d_normed_, builder_.last_compute());
    op = compute(OpKind::attention_own_backward, w.own_backward);
    builder_.take(d_qkv_, op);
    during(own_ws_, op);
}

OpId LayerEmitter::past_attention_backward(int64_t tokens, int64_t keys, double keys_seen, OpId wait,
                                           int64_t piece) {
    const bool packs = packed_ != kNone && !builder_.live(packed_);
    const OpId op = compute(OpKind::attention_past_backward, past_work(true, tokens, keys, keys_seen, packs),
                            wait, kNone, piece);
    during(past_ws_, op);
    during(partial_, op);                              // for a segment's dQ, before it is added
    if (packed_ != kNone) builder_.take(packed_, op);  // for all pieces
    builder_.take(d_q_sum_, op);
    builder_.take(emission_, op);
    return op;
}

OpId LayerEmitter::accumulate(int64_t emitted, int64_t distinct, bool add, int64_t piece) {
    const int64_t bytes = emission_bytes(emitted) + kv_gradient_bytes(distinct) * (add ? 2 : 1);
    const Kernel adds =
        plan_.decisions.kv_gradients == Dtype::bf16 ? Kernel::accumulate_add_bf16 : Kernel::accumulate_add;
    // Selected pages are summed by sorted segments; where nothing was emitted, the chunk's own sums are
    // added.
    const Kernel kernel = emitted > 0 && plan_.decisions.attention.sparse ? Kernel::accumulate_sum
                          : add || emitted == 0                           ? adds
                                                                          : Kernel::accumulate_copy;
    const int64_t rows =
        kernel == Kernel::accumulate_sum ? distinct / plan_.decisions.page.count() : distinct;
    const OpId op = compute(OpKind::accumulate_kv_gradients, builder_.work(memory_bound(bytes, kernel, rows)),
                            kNone, kNone, piece);
    if (builder_.live(emission_)) builder_.release(emission_, op);
    return op;
}

OpId LayerEmitter::project_backward(const Layer& layer, int64_t tokens, const LayerBuffers& b) {
    const Works& w = works(layer, tokens);
    OpId op = compute(OpKind::rope_backward, w.rope_backward);
    builder_.release(b.qkv, op);
    release_rotated(op);
    builder_.release(b.attention, op);
    builder_.release(d_attention_, op);
    if (builder_.live(d_q_sum_)) builder_.release(d_q_sum_, op);
    if (builder_.live(packed_)) builder_.release(packed_, op);
    op = compute(OpKind::norm, w.norm);
    builder_.take(normed_, op);
    if (train_all_) compute(OpKind::weight_gradient, w.qkv_gradient);
    op = compute(OpKind::qkv_backward, w.qkv_backward);
    builder_.take(d_normed_, op);
    lora(w.lora_qkv_b, w.lora_qkv_targets, true);
    builder_.release(d_qkv_, builder_.last_compute());
    all_reduce(tokens);
    op = compute(OpKind::norm_backward, w.norm_backward);
    builder_.release(normed_, op);
    builder_.release(d_normed_, op);
    builder_.release(b.x, op);
    return op;
}

void LayerEmitter::embed_backward(int64_t tokens, BufferId dx) {
    if (train_all_) {
        const int64_t gradient = bytes_of(plan_.recipe.gradients, 1).count();
        compute(OpKind::embed_backward,
                builder_.work(memory_bound(tokens * sizes_.hidden * (sizes_.element + 2 * gradient),
                                           Kernel::embed_backward, tokens)));
    }
    builder_.release(dx, builder_.last_compute());
}

}  // namespace headroom
