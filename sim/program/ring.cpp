#include "program/ring.h"

#include <algorithm>

namespace headroom {

RingFlow::RingFlow(const Plan& plan, StepBuilder& builder, LayerEmitter& emitter)
    : plan_(plan), builder_(builder), emitter_(emitter), ranks_(plan.decisions.ring_ranks) {
    if (ranks_ == 1) return;
    const int64_t tokens = ceil_div(plan.context.count(), ranks_);
    const RankSizes& s = emitter.sizes();
    for (int i = 0; i < 2; ++i) {
        const std::string slot = " slot " + std::to_string(i);
        builder.buffer("ring pages" + slot, Tier::device, Category::staging, 2 * tokens * s.kv * s.element);
        builder.buffer("ring page gradients" + slot, Tier::device, Category::staging, 2 * tokens * s.kv * 4);
    }
    emitter.reserve_past(tokens, 0);
}

int64_t RingFlow::longest_call(const Plan& plan) {
    if (plan.decisions.ring_ranks == 1) return 0;
    return std::min(plan.decisions.segment.count(),
                    ceil_div(plan.context.count(), plan.decisions.ring_ranks));
}

// Of one step. A window shorter than a part leaves only neighbours visible: at most the window for each
// query.
double RingFlow::seen(const Layer& layer, int64_t tokens) const {
    const double t = static_cast<double>(tokens);
    const int64_t window = plan_.decisions.honour_windows ? layer.window : 0;
    if (window == 0) return t * t / 2;
    return t * std::min(t / 2, static_cast<double>(window) / static_cast<double>(ranks_));
}

void RingFlow::forward(const Layer& layer, int64_t tokens) {
    if (ranks_ == 1) return;
    const RankSizes& s = emitter_.sizes();
    const uint32_t send = builder_.work(collective(WorkKind::peer, 2 * tokens * s.kv * s.element, 2));
    const OpId ready = builder_.last_compute();
    for (int64_t step = 1; step < ranks_; ++step) {
        OpId& slot = free_[next_++ % free_.size()];
        const OpId sent =
            builder_.op(Stream::peer, OpKind::send_pages, send, {step == 1 ? ready : kNone, slot}, step);
        slot = emitter_.attend_past(tokens, ceil_div(tokens, 2), seen(layer, tokens), sent, step);
    }
}

void RingFlow::backward(const Layer& layer, int64_t tokens) {
    if (ranks_ == 1) return;
    const RankSizes& s = emitter_.sizes();
    const uint32_t send_kv = builder_.work(collective(WorkKind::peer, 2 * tokens * s.kv * s.element, 2));
    const uint32_t send_sums = builder_.work(collective(WorkKind::peer, 2 * tokens * s.kv * 4, 2));
    const OpId ready = builder_.last_compute();
    OpId summed = kNone;
    for (int64_t step = 1; step < ranks_; ++step) {
        OpId& slot = free_[next_++ % free_.size()];
        const OpId sent =
            builder_.op(Stream::peer, OpKind::send_pages, send_kv, {step == 1 ? ready : kNone, slot}, step);
        emitter_.past_attention_backward(tokens, ceil_div(tokens, 2), seen(layer, tokens), sent, step);
        // The sums of the block follow it; the next step adds to what the neighbour added before.
        const OpId sums = builder_.op(Stream::peer, OpKind::send_pages, send_sums, {summed, slot}, step);
        emitter_.await(sums);
        summed = emitter_.accumulate(tokens, tokens, true, step);
        slot = summed;
    }
    // Once more, to the owner, who adds its own.
    const OpId home = builder_.op(Stream::peer, OpKind::send_pages, send_sums, {summed}, ranks_);
    emitter_.await(home);
    emitter_.accumulate(0, tokens, false, ranks_);
}

}  // namespace headroom
