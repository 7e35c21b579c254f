// The forward ops of a layer's MLP, whole or tile by tile.
#include <cassert>

#include "program/layer.h"

namespace headroom {

void LayerEmitter::mlp_norm(const Layer& layer, int64_t tokens) {
    builder_.take(normed_, compute(OpKind::norm, works(layer, tokens).norm));
}

void LayerEmitter::gate_up(const Layer& layer, int64_t rows, int64_t tile, const LayerBuffers& b) {
    const Works& w = works(layer, rows);
    if (layer.mixture) {
        compute(OpKind::router, w.router, kNone, kNone, tile);
        builder_.take(permuted_, compute(OpKind::activation, w.dispatch, kNone, kNone, tile));
    }
    builder_.take(b.gate_up, compute(OpKind::gate_up, w.gate_up, kNone, kNone, tile));
    lora(w.lora_up, w.lora_up_targets, false, tile);
}

void LayerEmitter::down(const Layer& layer, int64_t rows, int64_t tile, BufferId gate_up, BufferId out) {
    const Works& w = works(layer, rows);
    const OpId op = compute(OpKind::activation, w.activation, kNone, kNone, tile);
    builder_.take(act_, op);
    if (gate_up != kNone) builder_.release(gate_up, op);
    builder_.take(out, compute(OpKind::down, w.down, kNone, kNone, tile));
    lora(w.lora_down, w.lora_down_targets, false, tile);
    builder_.release(act_, builder_.last_compute());
}

void LayerEmitter::mlp_up(const Layer& layer, int64_t tokens, const LayerBuffers& b) {
    assert(!tiled_mlp_);
    mlp_norm(layer, tokens);
    gate_up(layer, tokens, 0, b);
    builder_.release(normed_, builder_.last_compute());
    if (layer.mixture) builder_.release(permuted_, builder_.last_compute());
}

OpId LayerEmitter::mlp(const Layer& layer, int64_t tokens, const LayerBuffers& b, BufferId x_out, bool keep) {
    mlp_forward(layer, tokens, b, four_norms_ ? b.down : x_out, keep);
    if (!four_norms_) return builder_.last_compute();
    const OpId op = compute(OpKind::norm, works(layer, tokens).post_norm);
    builder_.take(x_out, op);
    if (!keep) builder_.release(b.down, op);
    return op;
}

void LayerEmitter::mlp_forward(const Layer& layer, int64_t tokens, const LayerBuffers& b, BufferId out,
                               bool keep) {
    if (!tiled_mlp_) {
        mlp_up(layer, tokens, b);
        down(layer, tokens, 0, keep ? kNone : b.gate_up, out);
    } else {
        mlp_norm(layer, tokens);
        for_each_mlp_tile(tokens, [&](int64_t rows, int64_t tile) {
            gate_up(layer, rows, tile, b);
            if (layer.mixture) builder_.release(permuted_, builder_.last_compute());
            down(layer, rows, tile, b.gate_up, out);
        });
        builder_.release(normed_, builder_.last_compute());
    }
    all_reduce(tokens);
}

void LayerEmitter::mlp_again(const Layer& layer, int64_t tokens, const LayerBuffers& b) {
    if (four_norms_) {
        mlp_forward(layer, tokens, b, b.down, true);
    } else if (!tiled_mlp_) {
        mlp_up(layer, tokens, b);
    }
}

}  // namespace headroom
