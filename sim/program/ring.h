// Ring attention: every rank holds an equal part of the sequence, cut so that all have equal work (two
// stripes, one from each end), and K and V of the others pass by over the peer link while attention runs.
// Source: Liu et al., Ring Attention (arXiv 2310.01889); balanced halves as in zigzag variants.
//
// With R ranks of T tokens: after the own part, R - 1 steps; in each step half of the pairs are visible, T T
// / 2. Backward: K, V and the fp32 sums of dK and dV pass by.
#pragma once

#include <array>

#include "plan/plan.h"
#include "program/builder.h"
#include "program/layer.h"

namespace headroom {

class RingFlow {
public:
    RingFlow(const Plan& plan, StepBuilder& builder, LayerEmitter& emitter);
    static int64_t longest_call(const Plan& plan);
    void forward(const Layer& layer, int64_t tokens);
    void backward(const Layer& layer, int64_t tokens);

private:
    double seen(const Layer& layer, int64_t tokens) const;

    const Plan& plan_;
    StepBuilder& builder_;
    LayerEmitter& emitter_;
    int64_t ranks_;
    std::array<OpId, 2> free_{kNone, kNone};  // last use of each of the two slots
    size_t next_ = 0;
};

}  // namespace headroom
