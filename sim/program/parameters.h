// How weights, their gradients and the optimizer's states flow through a step: where they stand, what streams
// them to their use, and the update at the end. Shared by all strategies.
//
// Homes (plan/decisions.h): device: one buffer for the whole step. host: pinned memory, streamed layer by
// layer through two slots over the host link; the final norm goes with the head. ranks: sharded over the GPUs
// of the ring, gathered over the peer link. LoRA adapters stand on the device whatever the homes of weights
// and of their gradients: they are small (0.1 % of the weights), and streaming them would cost more in
// latency than in bytes.
#pragma once

#include "plan/plan.h"
#include "program/builder.h"
#include "program/layer.h"
#include "program/stager.h"

namespace headroom {

// Parameters that one update op takes at most; every piece but the last has as many.
inline constexpr int64_t kUpdatePiece = 64 * kMiB;

// What an op of kind load_weights, load_gradients or store_gradients moves (before the update), and what a
// zero op in the gradient pass clears: its `piece`.
enum class ParameterPart : uint8_t { layer, head, embedding_rows };

// What a slot of the update holds of `parameters`: bytes of what is not on the device, and where each part
// begins, aligned to kAlignment.
struct UpdateSlot {
    int64_t states = 0, gradients = 0, weights = 0;  // bytes
    int64_t gradients_at() const { return round_up(states, kAlignment); }
    int64_t weights_at() const { return gradients_at() + round_up(gradients, kAlignment); }
    int64_t bytes() const { return weights_at() + round_up(weights, kAlignment); }
};
UpdateSlot update_slot(const Plan& plan, int64_t parameters);

class ParameterFlow {
public:
    ParameterFlow(const Plan& plan, StepBuilder& builder, LayerEmitter& emitter);

    // Zeroes the gradient sums. Emits ops of Pass::setup.
    void begin_step();
    // Brings the weights of what comes next to the device; the next compute op waits for them.
    void need_layer(int64_t layer);
    void need_head();
    void need_embedding(int64_t tokens);
    // `op` was the last use of what the last need_*() brought.
    void layer_done(OpId op);
    void head_done(OpId op);
    void embedding_done(OpId op);

    // Gradient sums of a layer (or the head, the embedding) around the ops that add to them. `fresh`: nothing
    // was added before in this step, so nothing has to be read; a slot of sums of the host is cleared.
    void begin_layer_gradients(int64_t layer, bool fresh);
    void end_layer_gradients(int64_t layer, OpId op);
    void begin_head_gradients(bool fresh);
    void end_head_gradients(OpId op);
    // Rows are scattered into the sums where those live; nothing has to be read back. (On the host those of
    // an embedding that is no head are cleared by the host before the step.) The next compute op, which
    // writes the rows, waits until their slot is free.
    void begin_embedding_gradients();
    void end_embedding_gradients(int64_t tokens, OpId op);

    // Sums gradients over the ring's ranks, takes their norm, updates. Emits ops of Pass::update.
    void update();

private:
    int64_t head_parameters() const {
        return (units_.head > 0 ? units_.head : units_.embedding) + units_.final_norm;
    }
    bool off(Home home) const { return home != Home::device; }
    bool lora() const { return plan_.recipe.lora_rank > 0; }
    // Home of the weights that the update writes.
    Home trained_home() const { return lora() ? Home::device : plan_.decisions.weights_home; }
    void bring(Stager& stager, Home home, int64_t bytes, ParameterPart part);
    void gradient_begin(Stager& stager, int64_t parameters, bool fresh, ParameterPart part,
                        OpId wait = kNone);
    OpId gradient_end(Stager& stager, int64_t parameters, OpId op, ParameterPart part);
    void norm(int64_t parameters);

    const Plan& plan_;
    StepBuilder& builder_;
    LayerEmitter& emitter_;
    ParameterUnits units_;
    ParameterBytes bytes_;
    int64_t ranks_;  // over which `ranks` homes are sharded
    int64_t piece_;  // parameters of one update piece
    Stager layer_slots_, head_slots_, rows_slots_, gradient_slots_, head_gradient_slots_, row_gradient_slots_,
        update_slots_;
    OpId rows_stored_ = kNone;  // the last scatter of embedding rows
};

}  // namespace headroom
