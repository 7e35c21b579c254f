// How weights, their gradients and the optimizer's states flow through a step: where they stand, what streams
// them to their use, and the update at the end. Shared by all strategies.
//
// Homes (plan/decisions.h): device: one buffer for the whole step. host: pinned memory, streamed layer by
// layer through two slots over the host link. ranks: sharded over the GPUs of the ring, gathered over the
// peer link. LoRA adapters stand on the device whatever the homes of weights and of their gradients: they are
// small (0.1 % of the weights), and streaming them would cost more in latency than in bytes.
#pragma once

#include "plan/plan.h"
#include "program/builder.h"
#include "program/layer.h"
#include "program/stager.h"

namespace headroom {

// Parameters that one update op takes at most; every piece but the last has as many.
inline constexpr int64_t kUpdatePiece = 64 * kMiB;

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
    // was added before in this step, so nothing has to be read.
    void begin_layer_gradients(int64_t layer, bool fresh);
    void end_layer_gradients(int64_t layer, OpId op);
    void begin_head_gradients(bool fresh);
    void end_head_gradients(OpId op);
    // Rows are scattered into the sums where those live; nothing has to be read back. The next compute op,
    // which writes the rows, waits until their slot is free.
    void begin_embedding_gradients();
    void end_embedding_gradients(int64_t tokens, OpId op);

    // Sums gradients over the ring's ranks, takes their norm, updates. Emits ops of Pass::update.
    void update();

private:
    bool off(Home home) const { return home != Home::device; }
    bool lora() const { return plan_.recipe.lora_rank > 0; }
    // Home of the weights that the update writes.
    Home trained_home() const { return lora() ? Home::device : plan_.decisions.weights_home; }
    void bring(Stager& stager, Home home, int64_t bytes, OpKind to_device_kind);
    void gradient_begin(Stager& stager, int64_t parameters, bool fresh);
    void gradient_end(Stager& stager, int64_t parameters, OpId op);

    const Plan& plan_;
    StepBuilder& builder_;
    LayerEmitter& emitter_;
    ParameterUnits units_;
    ParameterBytes bytes_;
    int64_t ranks_;  // over which `ranks` homes are sharded
    int64_t piece_;  // parameters of one update piece
    Stager layer_slots_, head_slots_, rows_slots_, gradient_slots_, head_gradient_slots_, row_gradient_slots_,
        update_slots_;
};

}  // namespace headroom
