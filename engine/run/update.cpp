// The optimizer: norm of the gradients, clipping, and the update in the pieces that the program names.
#include <cmath>

#include "decoder/on_gpu.h"
#include "program/parameters.h"
#include "run/step_state.h"

namespace headroom::engine {
namespace {

constexpr int64_t kNormPiece = 64 * kMiB;  // gradients

// bf16 of fp32 values, rounded up with the probability of what is cut off: means stay, updates below half a
// step of bf16 are not lost. Source: Gupta et al., arXiv 1502.02551.
at::Tensor rounded_stochastically(const at::Tensor& wide, const at::Generator& random) {
    const at::Tensor bits = wide.contiguous().view(at::kInt);
    const at::Tensor noise = at::randint(0, 1 << 16, bits.sizes(), random, bits.options());
    return (bits + noise).bitwise_and_(static_cast<int64_t>(~0xffff)).view(at::kFloat).to(at::kBFloat16);
}

}  // namespace

void Executor::State::gradient_norm_op() {
    // In pieces: what a reduction of another type needs besides stays small.
    at::Tensor sum = at::zeros({}, gradients.options().dtype(at::kDouble));
    for (int64_t at = 0; at < gradients.numel(); at += kNormPiece) {
        const at::Tensor piece = gradients.narrow(0, at, std::min(kNormPiece, gradients.numel() - at));
        sum += at::linalg_vector_norm(piece.to(sum_type(piece.scalar_type())), 2).to(at::kDouble).square();
    }
    norm_ = std::sqrt(sum.item<double>());
}

void Executor::State::update(const Op& op) {
    const int64_t total = trained.numel();
    const int64_t first = op.piece * kUpdatePiece, count = std::min(kUpdatePiece, total - first);
    const double clip =
        settings.clip_norm > 0 && norm_ > settings.clip_norm ? settings.clip_norm / norm_ : 1.0;
    const bool fused = trained.is_cuda() && type_ == at::kBFloat16 && gradients.scalar_type() == at::kFloat &&
                       states.defined() && states.scalar_type() == at::kFloat;
    if (fused) {
        const double t = static_cast<double>(steps + 1);
        kernels::AdamW s{};
        s.rate = static_cast<float>(settings.learning_rate);
        s.beta1 = static_cast<float>(settings.beta1);
        s.beta2 = static_cast<float>(settings.beta2);
        s.epsilon = static_cast<float>(settings.epsilon);
        s.decay = static_cast<float>(settings.weight_decay);
        s.correction1 = static_cast<float>(1 - std::pow(settings.beta1, t));
        s.correction2 = static_cast<float>(1 - std::pow(settings.beta2, t));
        s.clip = static_cast<float>(clip);
        s.seed = (settings.seed << 32) + static_cast<uint64_t>(steps);
        kernels::adamw(bits(trained) + first, gradients.data_ptr<float>() + first,
                       states.data_ptr<float>() + first, states.data_ptr<float>() + total + first, count,
                       first, s, current_stream());
        return check_launch("adamw");
    }
    const at::ScalarType wide = sum_type(type_);
    at::Tensor w = trained.narrow(0, first, count);
    const at::Tensor g = gradients.narrow(0, first, count).to(wide).mul(clip);
    at::Tensor updated = w.to(wide);
    if (plan.recipe.optimizer == Optimizer::sgd) {
        updated = updated - g * settings.learning_rate;
    } else {
        const double t = static_cast<double>(steps + 1);
        at::Tensor m = states.select(0, 0).narrow(0, first, count),
                   v = states.select(0, 1).narrow(0, first, count);
        m.mul_(settings.beta1).add_(g, 1 - settings.beta1);
        v.mul_(settings.beta2).add_(g.square(), 1 - settings.beta2);
        const at::Tensor mean = m.to(wide) / (1 - std::pow(settings.beta1, t));
        const at::Tensor root =
            (v.to(wide) / (1 - std::pow(settings.beta2, t))).sqrt_().add_(settings.epsilon);
        updated = updated * (1 - settings.learning_rate * settings.weight_decay) -
                  mean / root * settings.learning_rate;
    }
    w.copy_(type_ == at::kBFloat16 ? rounded_stochastically(updated, random_) : updated);
}

}  // namespace headroom::engine
