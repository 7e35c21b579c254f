// A random plan for each strategy there is.
#pragma once

#include "sim/program/small_plan.h"

namespace headroom::test {

inline Plan draw_plan(const std::string& strategy) {
    Plan p = draw_chunked_plan();
    Decisions& d = p.decisions;
    d.strategy = strategy;
    const auto one_chunk = [&] {
        d.attention.sparse = false;
        d.chunk = Tokens(round_up(p.context.count(), d.page.count()));
        d.kv_residency = draw_residency(p.model.layer_count(), 1);
        d.kv_gradient_residency = draw_residency(p.model.layer_count(), 1);
        d.attention_outputs = draw::of({AttentionOutputs::recompute, AttentionOutputs::chunk});
    };
    if (strategy == "tensor-parallel") {
        p.gpus = d.tensor_ranks = 2;
    } else if (strategy == "whole-sequence") {
        one_chunk();
    } else if (strategy == "ring") {
        one_chunk();
        p.gpus = d.ring_ranks = draw::in(2, 4);
        d.states_home = draw::of({Home::device, Home::host, Home::ranks});
        d.gradients_home = Home::device;
        if (d.states_home == Home::ranks) {
            d.gradients_home = draw::of({Home::device, Home::ranks});
            d.weights_home = draw::of({Home::device, Home::ranks});
        }
    } else if (strategy == "layer-major") {
        d.attention.sparse = false;
        d.kv_residency = d.kv_gradient_residency = Residency{p.model.layer_count(), 0, 0};
        d.activations = draw::of({Activations::checkpoint_device, Activations::checkpoint_host});
        d.attention_outputs = AttentionOutputs::recompute;
        d.gradient_pages = GradientPages::first_touch;
        d.wavefront = 1;
    }
    d.mlp_tile = Tokens(draw::of({0, 8, 24}));
    return p;
}

// Links from slow to fast, so that copies end in many orders.
inline Hardware draw_links(Hardware h) {
    const auto speed = [] { return draw::of({1e8, 3e9, 1e11}); };
    h.to_device = {flat(speed()), flat(speed()), flat(speed())};
    h.to_host = {flat(speed()), flat(speed()), flat(speed())};
    h.both_directions = 2e11;
    h.peer_bandwidth = speed();
    h.disk_read = speed(), h.disk_write = speed();
    return h;
}

}  // namespace headroom::test
