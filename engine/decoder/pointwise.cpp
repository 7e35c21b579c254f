#include "decoder/pointwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "decoder/on_gpu.h"
#include "kernels/norms.h"
#include "kernels/reductions.h"

namespace headroom::engine {
namespace {

// Angle per position of each pair. Source: Su et al., arXiv 2104.09864; "llama3" as Llama 3.1 publishes it:
// long wavelengths are stretched by the factor, short ones kept, those between blended; "yarn" (Peng et al.,
// arXiv 2309.00071, section 3.2) blends along the dimensions, between those that turn beta_fast and beta_slow
// times in the original context. gemma3's windowed layers have a frequency of their own, not rescaled.
bool is_local(const Rope& r, const Layer& layer) {
    return layer.window > 0 && r.local_theta > 0;
}

std::vector<double> frequencies(const Model& m, const Layer& layer) {
    const Rope& r = m.rope;
    const bool local = is_local(r, layer);
    // The dimension whose pair turns so often in the original context.
    const auto dimension = [&](double turns) {
        return static_cast<double>(m.head_dim) *
               std::log(static_cast<double>(r.original_context) / (turns * 2 * std::numbers::pi)) /
               (2 * std::log(r.theta));
    };
    double low = dimension(r.beta_fast), high = dimension(r.beta_slow);
    if (r.truncate) low = std::floor(low), high = std::ceil(high);
    low = std::fmax(low, 0), high = std::fmin(high, static_cast<double>(m.head_dim - 1));
    if (low == high) high += 0.001;
    const double theta = local ? r.local_theta : r.theta;
    std::vector<double> result;
    for (int64_t i = 0; i < m.head_dim / 2; ++i) {
        double f = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(m.head_dim));
        if (!local && r.scaling == "linear") f /= r.factor;
        if (!local && r.scaling == "llama3") {
            const double turns = static_cast<double>(r.original_context) * f / (2 * std::numbers::pi);
            const double kept = (turns - r.low_freq_factor) / (r.high_freq_factor - r.low_freq_factor);
            const double share = std::fmin(1.0, std::fmax(0.0, kept));
            f = share * f + (1 - share) * f / r.factor;
        }
        if (!local && r.scaling == "yarn") {
            const double stretched =
                std::fmin(1.0, std::fmax(0.0, (static_cast<double>(i) - low) / (high - low)));
            f = stretched * f / r.factor + (1 - stretched) * f;
        }
        result.push_back(f);
    }
    return result;
}

bool has_norm_rows(const at::Tensor& t) {
    return rows_on_gpu(t) && t.size(-1) <= kernels::kMostNormDim;
}
kernels::NormRows norm_rows(const at::Tensor& x) {
    return {x.size(0), x.dim() == 3 ? x.size(1) : 1, x.size(-1)};
}

// What a norm multiplies by.
at::Tensor factor_of(const at::Tensor& weight, const NormRule& rule, at::ScalarType type) {
    return rule.add_one ? weight.to(type) + 1 : weight.to(type);
}
kernels::NormRule kernel_rule(const NormRule& rule) {
    return {static_cast<float>(rule.epsilon), rule.add_one ? 1.0f : 0.0f};
}

}  // namespace

at::ScalarType sum_type(at::ScalarType type) {
    return type == at::kDouble ? at::kDouble : at::kFloat;
}

void rms_norm(const at::Tensor& x, const at::Tensor& weight, const NormRule& rule, at::Tensor out, bool add) {
    if (has_norm_rows(x) && on_gpu(weight) && has_norm_rows(out)) {
        kernels::rms_norm(bits(x), x.stride(0), bits(weight), bits(out), out.stride(0), add, norm_rows(x),
                          kernel_rule(rule), current_stream());
        return check_launch("rms_norm");
    }
    const at::ScalarType type = sum_type(x.scalar_type());
    const at::Tensor wide = x.to(type);
    const at::Tensor normed =
        wide * at::rsqrt(wide.square().mean(-1, true).add_(rule.epsilon)) * factor_of(weight, rule, type);
    out.copy_(add ? normed + out.to(type) : normed);
}

void rms_norm_backward(const at::Tensor& x, const at::Tensor& weight, const NormRule& rule,
                       const at::Tensor& d_out, at::Tensor dx, bool add, at::Tensor d_weight,
                       const at::Tensor& scratch) {
    if (has_norm_rows(x) && on_gpu(weight) && has_norm_rows(d_out) && has_norm_rows(dx) &&
        (!d_weight.defined() || sums_on_gpu(d_weight))) {
        const at::Tensor parts =
            scratch_of(scratch, d_weight.defined() ? kernels::column_sums_scratch(x.size(-1)) : 0, x);
        const auto run = [&](auto* sums) {
            kernels::rms_norm_backward(bits(x), x.stride(0), bits(weight), bits(d_out), d_out.stride(0),
                                       bits(dx), dx.stride(0), add, sums,
                                       static_cast<float*>(parts.data_ptr()), norm_rows(x), kernel_rule(rule),
                                       current_stream());
        };
        if (d_weight.defined()) {
            with_sums(d_weight, run);
        } else {
            run(static_cast<float*>(nullptr));
        }
        return check_launch("rms_norm_backward");
    }
    const at::ScalarType type = sum_type(x.scalar_type());
    const at::Tensor wide = x.to(type), d = d_out.to(type);
    const at::Tensor inverse = at::rsqrt(wide.square().mean(-1, true).add_(rule.epsilon)),
                     unit = wide * inverse;
    if (d_weight.defined()) d_weight.add_((d * unit).flatten(0, -2).sum(0));
    const at::Tensor scaled = d * factor_of(weight, rule, type);
    const at::Tensor through = inverse * (scaled - unit * (scaled * unit).mean(-1, true));
    if (add) {
        dx.copy_(dx.to(type) + through);
    } else {
        dx.copy_(through);
    }
}

RopeTable rope_table(const Model& model, const Layer& layer, int64_t first, int64_t tokens,
                     const at::TensorOptions& options) {
    const at::TensorOptions wide = options.dtype(sum_type(c10::typeMetaToScalarType(options.dtype())));
    const RopeTable table{at::empty({tokens, model.head_dim / 2}, wide),
                          at::empty({tokens, model.head_dim / 2}, wide)};
    fill_rope_table(model, layer, first, table);
    return table;
}

void fill_rope_table(const Model& model, const Layer& layer, int64_t first, RopeTable table) {
    const auto scale = [&] {
        const double factor = is_local(model.rope, layer) ? 1 : attention_factor(model.rope);
        if (factor == 1) return;
        table.cos.mul_(factor);
        table.sin.mul_(factor);
    };
    const std::vector<double> f = frequencies(model, layer);
    const int64_t tokens = table.cos.size(0), half = static_cast<int64_t>(f.size());
    if (table.cos.is_cuda() && table.cos.scalar_type() == at::kFloat && half <= kernels::kMostPairs &&
        table.cos.is_contiguous() && table.sin.is_contiguous()) {
        kernels::Frequencies given{};
        std::copy(f.begin(), f.end(), given.f);
        kernels::rope_table(given, first, tokens, half, table.cos.data_ptr<float>(),
                            table.sin.data_ptr<float>(), current_stream());
        check_launch("rope_table");
        return scale();
    }
    const at::TensorOptions wide = table.cos.options().dtype(at::kDouble);
    const at::Tensor per_position =
        at::from_blob(const_cast<double*>(f.data()), {half}, at::kDouble).to(wide.device());
    const at::Tensor angles =
        at::arange(first, first + tokens, wide).unsqueeze(1) * per_position.unsqueeze(0);
    table.cos.copy_(angles.cos());
    table.sin.copy_(angles.sin());
    scale();
}

void rope(at::Tensor x, const RopeTable& table, bool inverse) {
    if (x.is_cuda() && x.scalar_type() == at::kBFloat16 && x.stride(2) == 1 && x.stride(1) == x.size(2)) {
        kernels::rope(bits(x), table.cos.data_ptr<float>(), table.sin.data_ptr<float>(), x.size(0), x.size(1),
                      x.size(2), x.stride(0), inverse, current_stream());
        return check_launch("rope");
    }
    const int64_t half = x.size(2) / 2;
    const at::Tensor cos = table.cos.unsqueeze(1),
                     sin = inverse ? table.sin.neg().unsqueeze(1) : table.sin.unsqueeze(1);
    const at::Tensor a = x.narrow(2, 0, half).to(cos.scalar_type()),
                     b = x.narrow(2, half, half).to(cos.scalar_type());
    const at::Tensor first = a * cos - b * sin, second = b * cos + a * sin;
    x.narrow(2, 0, half).copy_(first);
    x.narrow(2, half, half).copy_(second);
}

void swiglu(const at::Tensor& gate_up, at::Tensor act, bool gelu) {
    if (on_gpu(gate_up, act)) {
        kernels::swiglu(bits(gate_up), bits(act), act.size(0), act.size(1), current_stream(), gelu);
        return check_launch("swiglu");
    }
    const at::ScalarType type = sum_type(gate_up.scalar_type());
    const int64_t inner = act.size(1);
    const at::Tensor gate = gate_up.narrow(1, 0, inner).to(type);
    act.copy_(
        (gelu ? at::gelu(gate, "tanh") : at::silu(gate)).mul_(gate_up.narrow(1, inner, inner).to(type)));
}

void swiglu_backward(at::Tensor gate_up, const at::Tensor& d_act, bool gelu) {
    if (on_gpu(gate_up, d_act)) {
        kernels::swiglu_backward(bits(gate_up), bits(d_act), d_act.size(0), d_act.size(1), current_stream(),
                                 gelu);
        return check_launch("swiglu_backward");
    }
    const at::ScalarType type = sum_type(gate_up.scalar_type());
    const int64_t inner = d_act.size(1);
    const at::Tensor gate = gate_up.narrow(1, 0, inner).to(type),
                     up = gate_up.narrow(1, inner, inner).to(type);
    const at::Tensor d = d_act.to(type);
    const at::Tensor d_gate =
        gelu ? at::gelu_backward(d * up, gate, "tanh") : at::silu_backward(d * up, gate);
    const at::Tensor d_up = d * (gelu ? at::gelu(gate, "tanh") : at::silu(gate));
    gate_up.narrow(1, 0, inner).copy_(d_gate);
    gate_up.narrow(1, inner, inner).copy_(d_up);
}

void cross_entropy(at::Tensor logits, const at::Tensor& targets, double scale, at::Tensor loss_sum,
                   const at::Tensor& scratch) {
    if (on_gpu(logits)) {
        const int64_t rows = logits.size(0);
        auto* losses = static_cast<float*>(scratch_of(scratch, rows * 4, logits).data_ptr());
        kernels::cross_entropy(bits(logits), targets.data_ptr<int64_t>(), losses, rows, logits.size(1),
                               static_cast<float>(scale), current_stream());
        kernels::add_sum(losses, rows, loss_sum.data_ptr<double>(), current_stream());
        return check_launch("cross_entropy");
    }
    const at::Tensor wide = logits.to(sum_type(logits.scalar_type()));
    const at::Tensor counts = targets >= 0, index = targets.clamp_min(0).unsqueeze(1);
    const at::Tensor lse = at::logsumexp(wide, {1}, true);
    const at::Tensor losses = (lse - wide.gather(1, index)).squeeze(1);
    loss_sum.add_(losses.masked_fill(counts.logical_not(), 0).sum(at::kDouble));
    at::Tensor gradient = (wide - lse).exp_();
    gradient.scatter_add_(1, index, at::full_like(index, -1, gradient.options()));
    gradient.mul_(counts.unsqueeze(1)).mul_(scale);
    logits.copy_(gradient);
}

}  // namespace headroom::engine
