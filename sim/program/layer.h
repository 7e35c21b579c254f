// The ops of one decoder layer, the embedding and the LM head, for T tokens of one rank: forward and
// backward, by hand, with every buffer they need. Strategies (strategy/) put them in order and add what
// travels.
//
// Shapes: T tokens, H hidden, Q query size, KV key size, I inner size of the MLP, V vocabulary; Q, KV, I, V
// are divided by the tensor-parallel ranks. Activations have the dtype of the weights.
//
// Kept between forward and backward of a layer: its input x, qkv (rotated), the attention output with its
// log-sum-exp, x_mid (after attention) and gate_up. Norms and the activation are computed again in the
// backward pass (memory-bound, no FLOPs worth counting).
// Where queries and keys have norms of their own (qk_norm), qkv is kept as projected, which is what the
// norms' backward reads, and rotated q and k stand in one buffer of the layer in flight: docs/decisions/0009.
// Where a layer has four norms (gemma3), what attention and MLP give passes a norm before it is added to the
// hidden state: `out` and `down` hold it, kept like the others, and with checkpoints made again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "program/builder.h"

namespace headroom {

// Sizes of one rank in elements.
struct RankSizes {
    explicit RankSizes(const Plan& plan);
    int64_t hidden, q, kv, heads, kv_heads, head_dim, vocabulary;
    int64_t inner;         // dense MLP
    int64_t expert_inner;  // one expert
    int64_t element;       // bytes of one activation
    int64_t sum;  // bytes of one log-sum-exp, or of one value of a running sum: fp32, fp64 beside fp64
    // Elements of the gate_up output per token of a layer: 2 I, or 2 I_e for each visited expert.
    int64_t gate_up(const Model& model, const Layer& layer) const;
};

// Tables of cosines and sines that the layers of one chunk need: two where those with a window have an angle
// of their own.
int64_t rope_kinds(const Model& model);
// Two where queries are scaled besides (query_scalar): theirs is the keys' table times a factor.
int64_t rope_tables_of_kind(const Model& model);

// Parameters that one rank holds, in the units that weights, gradients and optimizer states travel in.
struct ParameterUnits {
    explicit ParameterUnits(const Plan& plan);
    int64_t embedding = 0, head = 0, final_norm = 0;
    std::vector<int64_t> layers;            // by layer, all parameters
    std::vector<int64_t> trainable_layers;  // by layer: those that are trained (LoRA: the adapters')
    int64_t trainable_rest = 0;             // embedding + head + final norm, or 0 (LoRA)
    int64_t total() const;
    int64_t trainable() const;
    int64_t adapters = 0;  // LoRA parameters, part of no layer's `layers`
};

// Parameters that share a scale of 8-bit states.
inline constexpr int64_t kStateBlock = 256;

// Bytes of optimizer states (and fp32 master weights) per trained parameter, and of weights, gradients.
struct ParameterBytes {
    explicit ParameterBytes(const Plan& plan);
    int64_t weight, gradient;
    // Optimizer states and fp32 master weights of so many parameters in one piece: adamw8bit has two codes of
    // a byte each, and two fp32 scales for every kStateBlock of them that is begun.
    Bytes states_of(int64_t parameters) const;

private:
    int64_t state_, block_;  // bytes for each parameter, for each block
};

// What a layer leaves for its backward pass. Ids may repeat (in-place use).
struct LayerBuffers {
    BufferId x = kNone, qkv = kNone, attention = kNone, x_mid = kNone, gate_up = kNone;
    BufferId out = kNone, down = kNone;  // four norms: before the norms after attention and MLP
};

// Keys of its own chunk that T queries see, and of `past` keys before them; window 0: no window.
double own_keys_seen(int64_t tokens, int64_t window);
double past_keys_seen(int64_t tokens, int64_t past, int64_t window);
// How many of the `past` tokens before a chunk any of its queries sees.
int64_t visible_past(int64_t past, int64_t window);

// Emits compute ops (and tensor-parallel collectives). One per program.
class LayerEmitter {
public:
    // `tokens`: of a full chunk; buffers are sized for it. `longest_keys`: largest number of past keys of one
    // attention call (0: no past), for the backward workspace.
    LayerEmitter(const Plan& plan, StepBuilder& builder, int64_t tokens, int64_t longest_keys);

    const RankSizes& sizes() const { return sizes_; }
    // Buffers of one layer in flight, shared by all layers (in-place forward), or of its own per layer.
    // `attention_by_copy`: the attention output arrives by a copy stream, so its address is its own.
    LayerBuffers layer_buffers(const std::string& suffix, bool attention_by_copy = false);
    BufferId hidden(const std::string& name);  // [T, H]

    // Next compute op, after `waits` and whatever collective or load is pending.
    // Scratch that `op` alone uses; kNone: none.
    void during(BufferId buffer, OpId op);
    OpId compute(OpKind kind, uint32_t work, OpId wait = kNone, OpId wait2 = kNone, int64_t piece = 0);
    // Makes the next compute op wait for `op` too.
    void await(OpId op);

    void embed(int64_t tokens, BufferId x, OpId wait = kNone);
    // norm, qkv, rope: takes buffers.qkv, and rotated q and k where they are apart. Returns the rope op,
    // after which K and V are final.
    OpId project(const Layer& layer, int64_t tokens, const LayerBuffers& b, OpId wait = kNone);
    // Rotated q and k of a layer whose qkv was kept, for its backward pass; nothing where qkv holds them.
    void rotate_again(const Layer& layer, int64_t tokens);
    // No one reads rotated q and k after `op`, until they are made again.
    void release_rotated(OpId op);
    // Attention to the own chunk: takes buffers.attention.
    OpId attend_own(const Layer& layer, int64_t tokens, const LayerBuffers& b);
    // One piece of the past: `keys` keys a query, in library calls of at most a segment each; all queries
    // together see `keys_seen`. Merged into the attention output by log-sum-exp. Returns the op that read the
    // keys.
    OpId attend_past(int64_t tokens, int64_t keys, double keys_seen, OpId wait, int64_t piece);
    // Output projection, its norm where it has one: takes x_mid, and `out` unless it is not kept. Returns the
    // last op, after which the attention output and x are read no more.
    OpId attention_out(const Layer& layer, int64_t tokens, const LayerBuffers& b, bool keep_out,
                       OpId wait = kNone);
    // The MLP: norm, gate_up, activation, down, and the norm behind it where there is one. Takes x_out;
    // `keep`: gate_up (unless in tiles) and `down` stay for the backward pass. Returns the last op.
    OpId mlp(const Layer& layer, int64_t tokens, const LayerBuffers& b, BufferId x_out, bool keep);
    // What mlp_backward reads, made again: gate_up (unless in tiles) and, with four norms, `down`.
    void mlp_again(const Layer& layer, int64_t tokens, const LayerBuffers& b);

    // Final norm, logits, loss and, unless `forward_only`, their backward: leaves dx. x is released.
    void head(int64_t tokens, BufferId x, BufferId dx, bool forward_only, OpId wait = kNone);
    // Backward of MLP and its norm; dx in place; releases x_mid, gate_up. Tiles compute gate_up again, one by
    // one.
    void mlp_backward(const Layer& layer, int64_t tokens, const LayerBuffers& b, OpId wait = kNone,
                      OpId gradient_wait = kNone);
    // Backward of the output projection and the attention to the own chunk: takes d_attention and d_qkv.
    void own_attention_backward(const Layer& layer, int64_t tokens, const LayerBuffers& b);
    // One piece of the past; its dK, dV are in the emission buffer afterwards.
    OpId past_attention_backward(int64_t tokens, int64_t keys, double keys_seen, OpId wait, int64_t piece);
    // Adds an emission of `emitted` keys into gradient pages of `distinct` keys (`add`: they hold sums
    // already).
    OpId accumulate(int64_t emitted, int64_t distinct, bool add, int64_t piece);
    // Rotary, projections, norm; releases x, qkv, attention and the gradients of them.
    OpId project_backward(const Layer& layer, int64_t tokens, const LayerBuffers& b);
    void embed_backward(int64_t tokens, BufferId dx);
    // K and V of a chunk computed again from x, nothing kept but the pages (layer-major order).
    OpId project_kv(const Layer& layer, int64_t tokens, const LayerBuffers& b, OpId wait = kNone);

    // Bytes of `keys` keys of one layer: K and V, or dK and dV as accumulated, or as the library emits them.
    int64_t kv_bytes(int64_t keys) const;
    int64_t kv_gradient_bytes(int64_t keys) const;
    int64_t emission_bytes(int64_t keys) const;

    // Scratch for one emission of `keys` keys (and for gathered pages, `gathered` keys). Call once before
    // use.
    void reserve_past(int64_t emission_keys, int64_t gathered_keys);
    // Makes pages of `keys` keys contiguous for the library's backward pass.
    OpId gather(int64_t keys, int64_t piece);
    void release_gathered(OpId op);
    // Whether the MLP is computed in tiles, whose backward computes gate_up again.
    bool tiled_mlp() const { return tiled_mlp_; }

private:
    // Small buffers that the step needs at any time.
    void make_small_buffers();

    struct Works {  // of one layer kind and token count
        Layer layer;
        int64_t tokens = 0;
        uint32_t norm, post_norm, post_norm_backward;
        uint32_t qkv, kv, rope, rope_store, own, merge, out, router, dispatch, gate_up, activation, down;
        uint32_t own_backward, out_backward, out_gradient, router_backward, gate_up_backward,
            gate_up_gradient, down_backward, down_gradient, activation_backward, norm_backward, rope_backward,
            qkv_backward, qkv_gradient;
        int64_t lora_qkv_targets, lora_out_targets, lora_up_targets, lora_down_targets;
        uint32_t lora_qkv, lora_out, lora_up, lora_down;
        uint32_t lora_qkv_b, lora_out_b, lora_up_b, lora_down_b;
    };
    const Works& works(const Layer& layer, int64_t tokens);
    uint32_t past_work(bool backward, int64_t tokens, int64_t keys, double keys_seen, bool packs);
    void all_reduce(int64_t tokens);
    // `targets`: of the projections that were just computed, those with an adapter.
    void lora(uint32_t work, int64_t targets, bool backward = false, int64_t tile = 0);

    // The MLP's parts, for `rows` tokens: all, or those of one tile, whose number is the `piece` of its ops.
    template <typename Emit>  // emit(rows, tile)
    void for_each_mlp_tile(int64_t tokens, Emit&& emit) {
        for (int64_t first = 0, tile = 0; first < tokens; first += mlp_rows_, ++tile)
            emit(std::min(mlp_rows_, tokens - first), tile);
    }
    void mlp_norm(const Layer& layer, int64_t tokens);  // of all tokens: takes normed
    void mlp_up(const Layer& layer, int64_t tokens, const LayerBuffers& b);
    void mlp_forward(const Layer& layer, int64_t tokens, const LayerBuffers& b, BufferId out, bool keep);
    // Takes gate_up, and the tokens by expert of a mixture.
    void gate_up(const Layer& layer, int64_t rows, int64_t tile, const LayerBuffers& b);
    // Activation and down: takes `out`, releases `gate_up` unless it is kNone.
    void down(const Layer& layer, int64_t rows, int64_t tile, BufferId gate_up, BufferId out);
    void mlp_tile_backward(const Layer& layer, int64_t rows, int64_t tile, const LayerBuffers& b,
                           OpId gradient_wait);

    const Plan& plan_;
    StepBuilder& builder_;
    RankSizes sizes_;
    int64_t tokens_;
    bool train_all_, four_norms_;
    std::deque<Works> cache_;  // references stay valid
    size_t last_works_ = 0;
    std::vector<std::pair<std::array<int64_t, 4>, uint32_t>> past_cache_;
    std::vector<OpId> pending_;
    bool tiled_mlp_;
    int64_t mlp_rows_;  // tokens of the MLP at once
    // Transient buffers [T, ...].
    BufferId normed_, partial_, act_, logits_, logits32_, d_normed_, d_act_, d_attention_, d_qkv_, d_q_sum_,
        rotated_, adapter_, forward_ws_, own_ws_, past_ws_ = kNone, block_sums_ = kNone, packed_ = kNone,
                                                  emission_ = kNone, gathered_ = kNone, permuted_ = kNone;
};

}  // namespace headroom
