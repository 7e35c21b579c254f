// Plans of a tiny model, fixed or drawn at random, and what tests read off their programs.
#pragma once

#include <gtest/gtest.h>
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "program/program.h"
#include "sim/plan/fixture.h"

namespace headroom::test {

// 3 layers, hidden 64, 4 query and 2 KV heads of 16; pages of 8 tokens. One page of K and V of a layer has
// 1024 bytes.
inline Plan tiny_plan(int64_t chunks = 5, int64_t chunk = 32, int64_t last_chunk = 32) {
    Plan p;
    p.name = "tiny";
    p.model.name = "tiny";
    p.model.type = "qwen2";
    p.model.hidden = 64, p.model.vocabulary = 160, p.model.heads = 4, p.model.kv_heads = 2,
    p.model.head_dim = 16;
    p.model.intermediate = 96;
    p.model.max_context = 4096;
    p.model.layers.resize(3);
    p.hardware = small_hardware();
    p.context = Tokens((chunks - 1) * chunk + last_chunk);
    p.budget = {p.hardware.device_memory, p.hardware.pinnable_memory, p.hardware.disk_memory};
    p.decisions.page = Tokens(8);
    p.decisions.chunk = Tokens(chunk);
    p.decisions.segment = Tokens(32);
    p.decisions.staging_slot = Bytes(8 * 1024);
    p.decisions.attention.block = 8;
    p.decisions.attention.budget = 4;
    p.decisions.attention.sink = 1;
    p.decisions.attention.local = 1;
    p.decisions.kv_residency.device_layers = p.decisions.kv_gradient_residency.device_layers = 3;
    return p;
}

namespace draw {
inline int64_t in(int64_t least, int64_t most) {
    return *rc::gen::inRange(least, most + 1);
}
inline bool coin() {
    return *rc::gen::arbitrary<bool>();
}
template <class T>
T of(std::initializer_list<T> values) {
    return *rc::gen::elementOf(std::vector<T>(values));
}
}  // namespace draw

inline Residency draw_residency(int64_t layers, int64_t chunks) {
    Residency r;
    r.device_layers = draw::in(0, layers);
    r.device_chunks = draw::coin() ? 0 : draw::in(0, chunks);
    r.disk_chunks = draw::coin() ? 0 : draw::in(0, chunks - r.device_chunks);
    return r;
}

inline Model draw_model(const Model& tiny) {
    Model m = tiny;
    m.tied_embeddings = draw::coin();
    m.qk_norm = draw::coin();
    m.norms_per_layer = draw::coin() ? 2 : 4;
    m.experts.count = 4, m.experts.per_token = draw::in(1, 4), m.experts.intermediate = 32,
    m.experts.shared = draw::in(0, 1);
    m.layers.resize(static_cast<size_t>(draw::in(2, 4)));
    for (Layer& l : m.layers) l = {draw::coin() ? 0 : draw::in(1, 100), draw::in(0, 3) == 0};
    return m;
}

// Any decisions that the chunked strategies allow; 1 to 20 chunks.
inline Plan draw_chunked_plan() {
    const int64_t page = 8, chunk = page * draw::in(1, 6);
    Plan p = tiny_plan(draw::in(1, 20), chunk, draw::in(1, chunk));
    p.model = draw_model(p.model);
    Decisions& d = p.decisions;
    const int64_t layers = p.model.layer_count(), n = p.chunks();
    d.honour_windows = draw::coin();
    d.weights = draw::of({Dtype::bf16, Dtype::fp32});
    d.kv = draw::of({Dtype::fp8, Dtype::bf16, Dtype::fp32});
    d.kv_gradients = draw::of({Dtype::bf16, Dtype::fp32});
    d.kv_residency = draw_residency(layers, n);
    d.kv_gradient_residency = draw_residency(layers, n);
    d.gradient_pages = draw::of({GradientPages::first_touch, GradientPages::all_at_once});
    d.attention_outputs = draw::of({AttentionOutputs::recompute, AttentionOutputs::chunk,
                                    AttentionOutputs::device, AttentionOutputs::host});
    d.activations =
        draw::of({Activations::keep, Activations::checkpoint_device, Activations::checkpoint_host});
    d.weights_home = draw::of({Home::device, Home::host});
    d.gradients_home = draw::of({Home::device, Home::host});
    d.states_home = draw::of({Home::device, Home::host});
    d.attention.sparse = draw::coin();
    d.attention.block = draw::of<int64_t>({8, chunk});
    d.attention.budget = draw::in(3, 12);
    d.attention.sink = draw::in(0, 1);
    d.attention.local = draw::in(0, 1);
    if (draw::coin()) d.attention.waiting = d.attention.budget + draw::in(0, 20);
    d.segment = Tokens(page * draw::in(1, 8));
    d.staging_slots = draw::in(1, 4);
    d.prefetch = draw::in(0, d.staging_slots - 1);
    d.staging_slot = Bytes(2048 * draw::in(1, 20));
    d.page_copy = draw::of({PageCopy::loop, PageCopy::batch, PageCopy::gather});
    if (draw::coin()) d.page_cache = Bytes(draw::in(0, 200'000));
    d.wavefront = draw::in(1, 2);
    d.loss_tile = Tokens(draw::in(0, 2) * 8);
    d.logits_fp32 = draw::in(0, 1);
    d.mlp_tile = Tokens(draw::in(0, 2) * 8);
    d.deterministic = draw::coin();
    d.fill_head = d.wavefront == 1 && draw::coin();
    d.write_back_clean = draw::coin();
    d.load_gradients_forward = draw::coin();
    p.recipe.batch = draw::in(1, 2);
    p.recipe.optimizer = draw::of({Optimizer::none, Optimizer::sgd, Optimizer::adamw, Optimizer::adamw8bit});
    p.recipe.master_weights = draw::coin();
    p.recipe.gradients = draw::of({Dtype::bf16, Dtype::fp32});
    if (draw::in(0, 3) == 0) {
        p.recipe.lora_rank = draw::in(1, 16);
        p.recipe.lora_targets = draw::coin() ? std::vector<std::string>{"q", "v"}
                                             : std::vector<std::string>{"k", "o", "gate", "up", "down"};
    }
    p.selection.block_reuse = 0.1 * static_cast<double>(draw::in(0, 10));
    p.selection.neighbours = draw::of({0.0, 0.5, 0.9});
    p.selection.spread = draw::of({0.0, 0.25, 3.0});
    p.selection.seed = static_cast<uint64_t>(draw::in(1, 1000));
    return p;
}

// Sums over the ops that `which(op)` accepts.
template <class Which>
double flops_of(const Program& p, Which which) {
    double sum = 0;
    for (const Op& op : p.ops) {
        if (which(op)) sum += static_cast<double>(p.works[op.work].flops);
    }
    return sum;
}
template <class Which>
int64_t bytes_of_ops(const Program& p, Which which) {
    int64_t sum = 0;
    for (const Op& op : p.ops) {
        if (which(op)) sum += p.works[op.work].bytes;
    }
    return sum;
}
template <class Which>
int64_t count_ops(const Program& p, Which which) {
    return std::count_if(p.ops.begin(), p.ops.end(), which);
}
inline int64_t bytes_of_kind(const Program& p, OpKind kind) {
    return bytes_of_ops(p, [kind](const Op& op) { return op.kind == kind; });
}
// The ops that `op` waits for by name.
inline std::vector<OpId> waits_of(const Program& p, OpId op) {
    const auto [begin, end] = adjacent_vertices(op, p.waits);
    return {begin, end};
}

}  // namespace headroom::test
