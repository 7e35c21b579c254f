#include "program/parameters.h"

#include <algorithm>

namespace headroom {
namespace {

constexpr int64_t kCopyPiece = 64 * kMiB;  // bytes of one contiguous copy of parameters

uint32_t link_copy(StepBuilder& builder, WorkKind direction, int64_t bytes) {
    return builder.work(bytes > 0 ? copy(direction, bytes, ceil_div(bytes, kCopyPiece)) : Work{});
}

}  // namespace

UpdateSlot update_slot(const Plan& plan, int64_t parameters) {
    const Decisions& d = plan.decisions;
    const ParameterBytes bytes(plan);
    UpdateSlot slot;
    if (d.states_home == Home::host) slot.states = bytes.states_of(parameters).count();
    if (d.gradients_home == Home::host) slot.gradients = parameters * bytes.gradient;
    if (d.weights_home == Home::host && plan.recipe.lora_rank == 0) slot.weights = parameters * bytes.weight;
    return slot;
}

ParameterFlow::ParameterFlow(const Plan& plan, StepBuilder& builder, LayerEmitter& emitter)
    : plan_(plan),
      builder_(builder),
      emitter_(emitter),
      units_(plan),
      bytes_(plan),
      ranks_(plan.decisions.ring_ranks) {
    const Decisions& d = plan.decisions;
    const auto share = [this](Home home, int64_t total) {
        return home == Home::ranks ? ceil_div(total, ranks_) : total;
    };
    const auto tier = [](Home home) { return home == Home::host ? Tier::host : Tier::device; };

    const int64_t model_bytes = checked_mul(units_.total() - units_.adapters, bytes_.weight);
    builder.buffer("weights", tier(d.weights_home), Category::weights, share(d.weights_home, model_bytes));
    builder.buffer("adapters", Tier::device, Category::weights, checked_mul(units_.adapters, bytes_.weight));
    const int64_t trainable = units_.trainable();
    builder.buffer("weight gradients", tier(d.gradients_home), Category::gradients,
                   share(d.gradients_home, checked_mul(trainable, bytes_.gradient)));
    const int64_t states = plan.recipe.optimizer == Optimizer::none ? 0 : bytes_.states_of(trainable).count();
    builder.buffer("optimizer states", tier(d.states_home), Category::optimizer,
                   share(d.states_home, states));

    const int64_t largest = *std::max_element(units_.layers.begin(), units_.layers.end());
    const int64_t largest_trained =
        *std::max_element(units_.trainable_layers.begin(), units_.trainable_layers.end());
    const int64_t head = head_parameters();
    const int64_t rows = std::min(plan.decisions.chunk.count(), plan.context.count()) * plan.model.hidden;
    if (off(d.weights_home)) {
        layer_slots_ = Stager(builder, "layer weights", Category::weights, largest * bytes_.weight, 2, 1);
        head_slots_ = Stager(builder, "head weights", Category::weights, head * bytes_.weight, 1, 0);
        if (d.weights_home == Home::host) {
            rows_slots_ = Stager(builder, "embedding rows", Category::weights, rows * bytes_.weight, 1, 0);
        }
    }
    const bool all = plan.recipe.lora_rank == 0;
    if (off(d.gradients_home)) {
        gradient_slots_ =
            Stager(builder, "layer gradients", Category::gradients, largest_trained * bytes_.gradient, 2, 1);
        if (all) {
            head_gradient_slots_ =
                Stager(builder, "head gradients", Category::gradients, head * bytes_.gradient, 1, 0);
            row_gradient_slots_ =
                Stager(builder, "embedding row gradients", Category::gradients, rows * bytes_.gradient, 1, 0);
        }
    }
    piece_ = std::min<int64_t>(kUpdatePiece, std::max<int64_t>(1, trainable));
    const int64_t slot = update_slot(plan, piece_).bytes();
    if (plan.recipe.optimizer != Optimizer::none && slot > 0)
        update_slots_ = Stager(builder, "update", Category::optimizer, slot, 2, 1);
}

void ParameterFlow::begin_step() {
    builder_.pass = Pass::setup;
    builder_.chunk = kNone;
    builder_.layer = kNoLayer;
    if (plan_.decisions.gradients_home != Home::host) {
        const int64_t bytes = ceil_div(units_.trainable() * bytes_.gradient,
                                       plan_.decisions.gradients_home == Home::ranks ? ranks_ : 1);
        emitter_.compute(OpKind::zero, builder_.work(memory_bound(bytes, Kernel::zero)));
    }
}

void ParameterFlow::bring(Stager& stager, Home home, int64_t bytes, ParameterPart part) {
    if (home == Home::host) {
        emitter_.await(stager.load(Stream::to_device, OpKind::load_weights,
                                   link_copy(builder_, WorkKind::copy_to_device, bytes), kNone,
                                   static_cast<int64_t>(part)));
    } else {
        const uint32_t work =
            builder_.work(collective(WorkKind::all_gather, bytes, static_cast<int32_t>(ranks_)));
        emitter_.await(stager.load(Stream::peer, OpKind::all_gather, work));
    }
}

void ParameterFlow::need_layer(int64_t layer) {
    const Home home = plan_.decisions.weights_home;
    if (off(home))
        bring(layer_slots_, home, units_.layers[static_cast<size_t>(layer)] * bytes_.weight,
              ParameterPart::layer);
}
void ParameterFlow::need_head() {
    const Home home = plan_.decisions.weights_home;
    if (off(home)) bring(head_slots_, home, head_parameters() * bytes_.weight, ParameterPart::head);
}
void ParameterFlow::need_embedding(int64_t tokens) {
    const Home home = plan_.decisions.weights_home;
    if (home == Home::host)
        bring(rows_slots_, home, tokens * plan_.model.hidden * bytes_.weight, ParameterPart::embedding_rows);
    if (home == Home::ranks)
        bring(head_slots_, home, units_.embedding * bytes_.weight, ParameterPart::embedding_rows);
}
void ParameterFlow::layer_done(OpId op) {
    if (off(plan_.decisions.weights_home)) layer_slots_.used(op);
}
void ParameterFlow::head_done(OpId op) {
    if (off(plan_.decisions.weights_home)) head_slots_.used(op);
}
void ParameterFlow::embedding_done(OpId op) {
    if (plan_.decisions.weights_home == Home::host) rows_slots_.used(op);
    if (plan_.decisions.weights_home == Home::ranks) head_slots_.used(op);
}

void ParameterFlow::gradient_begin(Stager& stager, int64_t parameters, bool fresh, ParameterPart part,
                                   OpId wait) {
    const bool host = plan_.decisions.gradients_home == Home::host;
    const int64_t bytes = parameters * bytes_.gradient, piece = static_cast<int64_t>(part);
    if (host && !fresh) {
        const uint32_t work = link_copy(builder_, WorkKind::copy_to_device, bytes);
        emitter_.await(stager.load(Stream::to_device, OpKind::load_gradients, work, wait, piece));
        return;
    }
    emitter_.await(stager.free_after());
    if (host)
        emitter_.compute(OpKind::zero, builder_.work(memory_bound(bytes, Kernel::zero)), kNone, kNone, piece);
}
OpId ParameterFlow::gradient_end(Stager& stager, int64_t parameters, OpId op, ParameterPart part) {
    OpId stored = kNone;
    if (plan_.decisions.gradients_home == Home::host) {
        // A kernel adds rows of the embedding where the sums are: each is read over the link and written.
        const int64_t trips = part == ParameterPart::embedding_rows ? 2 : 1;
        const uint32_t work =
            link_copy(builder_, WorkKind::copy_to_host, checked_mul(parameters * bytes_.gradient, trips));
        stored =
            builder_.op(Stream::to_host, OpKind::store_gradients, work, {op}, static_cast<int64_t>(part));
    } else {
        const uint32_t work = builder_.work(
            collective(WorkKind::reduce_scatter, parameters * bytes_.gradient, static_cast<int32_t>(ranks_)));
        stored = builder_.op(Stream::peer, OpKind::reduce_scatter, work, {op});
    }
    stager.used(stored);
    return stored;
}

void ParameterFlow::begin_layer_gradients(int64_t layer, bool fresh) {
    if (off(plan_.decisions.gradients_home)) {
        gradient_begin(gradient_slots_, units_.trainable_layers[static_cast<size_t>(layer)], fresh,
                       ParameterPart::layer);
    }
}
void ParameterFlow::end_layer_gradients(int64_t layer, OpId op) {
    if (off(plan_.decisions.gradients_home)) {
        gradient_end(gradient_slots_, units_.trainable_layers[static_cast<size_t>(layer)], op,
                     ParameterPart::layer);
    }
}
void ParameterFlow::begin_head_gradients(bool fresh) {
    if (!off(plan_.decisions.gradients_home) || units_.trainable_rest == 0) return;
    // Where the head is the embedding, rows were scattered into the same sums.
    gradient_begin(head_gradient_slots_, head_parameters(), fresh, ParameterPart::head,
                   units_.head > 0 ? kNone : rows_stored_);
}
void ParameterFlow::end_head_gradients(OpId op) {
    if (!off(plan_.decisions.gradients_home) || units_.trainable_rest == 0) return;
    gradient_end(head_gradient_slots_, head_parameters(), op, ParameterPart::head);
}
void ParameterFlow::begin_embedding_gradients() {
    if (!off(plan_.decisions.gradients_home) || units_.trainable_rest == 0) return;
    emitter_.await(row_gradient_slots_.free_after());
}
void ParameterFlow::end_embedding_gradients(int64_t tokens, OpId op) {
    if (!off(plan_.decisions.gradients_home) || units_.trainable_rest == 0) return;
    rows_stored_ =
        gradient_end(row_gradient_slots_, tokens * plan_.model.hidden, op, ParameterPart::embedding_rows);
}

// Of gradients on the host: once through the slots of the update, piece by piece.
void ParameterFlow::norm(int64_t parameters) {
    if (plan_.decisions.gradients_home != Home::host) {
        emitter_.compute(OpKind::gradient_norm,
                         builder_.work(memory_bound(parameters * bytes_.gradient, Kernel::gradient_norm)),
                         builder_.last_of(Stream::to_host), builder_.last_of(Stream::peer));
        return;
    }
    const OpId stored = builder_.last_of(Stream::to_host);
    for (int64_t i = 0; i < ceil_div(parameters, piece_); ++i) {
        const int64_t bytes = std::min(piece_, parameters - i * piece_) * bytes_.gradient;
        emitter_.await(update_slots_.load(Stream::to_device, OpKind::load_gradients,
                                          link_copy(builder_, WorkKind::copy_to_device, bytes), stored, i));
        update_slots_.used(emitter_.compute(OpKind::gradient_norm,
                                            builder_.work(memory_bound(bytes, Kernel::gradient_norm)), kNone,
                                            kNone, i));
    }
}

namespace {

Kernel update_kernel(const Recipe& r) {
    if (r.optimizer == Optimizer::sgd) return Kernel::update_sgd;
    if (r.optimizer == Optimizer::adamw8bit) return Kernel::update_adamw8bit;
    if (r.master_weights) return Kernel::update_adamw_master;
    return r.states == Dtype::bf16 ? Kernel::update_adamw_bf16 : Kernel::update_adamw;
}

}  // namespace

void ParameterFlow::update() {
    builder_.pass = Pass::update;
    builder_.chunk = kNone;
    builder_.layer = kNoLayer;
    const Decisions& d = plan_.decisions;
    int64_t trainable = units_.trainable();
    if (d.ring_ranks > 1 && d.gradients_home == Home::device) {
        const uint32_t work = builder_.work(collective(WorkKind::all_reduce, trainable * bytes_.gradient,
                                                       static_cast<int32_t>(d.ring_ranks)));
        emitter_.await(builder_.op(Stream::peer, OpKind::all_reduce, work, {builder_.last_compute()}));
    }
    if (plan_.recipe.optimizer == Optimizer::none) return;
    if (d.gradients_home == Home::ranks) trainable = ceil_div(trainable, ranks_);
    norm(trainable);
    if (d.states_home == Home::ranks || trained_home() == Home::ranks) {
        trainable = ceil_div(units_.trainable(), ranks_);
    }
    // Sums come back from the host only after the last of them was stored there, and from the other ranks.
    const OpId summed = builder_.last_of(Stream::peer);
    const OpId stored = d.gradients_home == Home::host ? builder_.last_of(Stream::to_host) : kNone;
    const int64_t pieces = ceil_div(trainable, piece_);
    for (int64_t i = 0; i < pieces; ++i) {
        const int64_t n = std::min(piece_, trainable - i * piece_);
        const int64_t states = bytes_.states_of(n).count();
        const UpdateSlot slot = update_slot(plan_, n);
        const int64_t in = slot.states + slot.gradients + slot.weights, out = slot.states + slot.weights;
        const bool streamed = in > 0;
        if (streamed) {
            emitter_.await(update_slots_.load(Stream::to_device, OpKind::load_states,
                                              link_copy(builder_, WorkKind::copy_to_device, in), summed, i,
                                              stored));
        }
        const int64_t touched = n * (2 * bytes_.weight + bytes_.gradient) + 2 * states;
        const OpId op = emitter_.compute(OpKind::update,
                                         builder_.work(memory_bound(touched, update_kernel(plan_.recipe))),
                                         kNone, kNone, i);
        if (!streamed) continue;
        OpId last = op;
        if (out > 0) {
            last = builder_.op(Stream::to_host, OpKind::store_states,
                               link_copy(builder_, WorkKind::copy_to_host, out), {op}, i);
        }
        update_slots_.used(last);
    }
    // Each rank updated its shard alone.
    const bool sharded = d.gradients_home == Home::ranks || d.states_home == Home::ranks;
    if (sharded && trained_home() != Home::ranks) {
        const uint32_t work = builder_.work(collective(
            WorkKind::all_gather, units_.trainable() * bytes_.weight, static_cast<int32_t>(ranks_)));
        builder_.op(Stream::peer, OpKind::all_gather, work, {builder_.last_compute()});
    }
}

}  // namespace headroom
