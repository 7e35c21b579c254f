// The optimizer's ops: norm of the gradients, and the update in the pieces that the program names.
#include <cmath>

#include "decoder/reductions.h"
#include "program/parameters.h"
#include "run/step_state.h"

namespace headroom::engine {
namespace {

static_assert(kernels::kStateBlock == kStateBlock, "the planner counts the scales that the kernel has");
static_assert(kUpdatePiece % kernels::kStateBlock == 0, "8-bit states are updated in whole blocks");

// Of one step's rounding: seeds that lie side by side must not give the same bits a few parameters apart.
uint64_t seed_of_step(uint64_t seed, int64_t step) {
    return seed * 0xd1342543de82ef95ull + static_cast<uint64_t>(step) * 0xaf251af3b0f025b5ull;
}

}  // namespace

// Of all gradients at once, or of those that came from the host, a piece.
void Executor::State::gradient_norm_op(const Op& op) {
    const bool here = plan.decisions.gradients_home == Home::device;
    if (op.piece == 0) squares_.zero_();
    add_squares(here ? gradients : update_views(op.piece).gradients, squares_, scratch_);
    if (here || (op.piece + 1) * kUpdatePiece >= gradients.numel()) norm_ = std::sqrt(value_of(squares_));
}

void Executor::State::update(const Op& op) {
    const UpdateViews v = update_views(op.piece);
    const auto t = static_cast<double>(steps + 1);
    kernels::OptimizerStep s;
    s.rate = settings.learning_rate;
    s.beta1 = settings.beta1;
    s.beta2 = settings.beta2;
    s.epsilon = settings.epsilon;
    s.decay = settings.weight_decay;
    s.correction1 = 1 - std::pow(settings.beta1, t);
    s.correction2 = 1 - std::pow(settings.beta2, t);
    s.clip = settings.clip_norm > 0 && norm_ > settings.clip_norm ? settings.clip_norm / norm_ : 1;
    s.seed = seed_of_step(settings.seed, steps);
    optimizer_update(v.weights, v.gradients, v.states, v.first, s);
}

}  // namespace headroom::engine
