#include "reference/reference.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include "decoder/adapters.h"
#include "decoder/parameters.h"

namespace headroom::engine {
namespace {

using torch::Tensor;

Tensor normed(const Tensor& x, const Tensor& weight, const Model& m) {
    const Tensor unit = x * (x.pow(2).mean(-1, true) + m.norm_epsilon).rsqrt();
    return m.type.starts_with("gemma3") ? unit * (1 + weight) : unit * weight;
}

// Dimension of the pair that turns so often in the original context.
double yarn_dimension(const Model& m, double turns) {
    const double context = static_cast<double>(m.rope.original_context);
    return static_cast<double>(m.head_dim) * std::log(context / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(m.rope.theta));
}
// Inverse frequencies after yarn, as transformers computes them.
Tensor yarn(const Model& m, const Tensor& inverse) {
    double low = yarn_dimension(m, m.rope.beta_fast), high = yarn_dimension(m, m.rope.beta_slow);
    if (m.rope.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(m.head_dim - 1));
    if (low == high) high += 0.001;
    const Tensor ramp = ((torch::arange(m.head_dim / 2, torch::kDouble) - low) / (high - low)).clamp(0, 1);
    return inverse / m.rope.factor * ramp + inverse * (1 - ramp);
}

// Cosines and sines [N, 1, d]; written from the definitions, apart from the engine's own.
std::pair<Tensor, Tensor> rotation(const Model& m, const Layer& layer, int64_t n,
                                   const torch::TensorOptions& options) {
    const bool local = layer.window > 0 && m.rope.local_theta > 0;
    const std::string scaling = local ? "" : m.rope.scaling;
    Tensor exponent = torch::arange(0, m.head_dim, 2, torch::kDouble) / static_cast<double>(m.head_dim);
    Tensor inverse = torch::pow(local ? m.rope.local_theta : m.rope.theta, -exponent);
    if (scaling == "linear") inverse = inverse / m.rope.factor;
    if (scaling == "llama3") {
        const Tensor wavelength = 2 * std::numbers::pi / inverse;
        const double context = static_cast<double>(m.rope.original_context);
        const Tensor blend = (context / wavelength - m.rope.low_freq_factor) /
                             (m.rope.high_freq_factor - m.rope.low_freq_factor);
        const Tensor smooth = (1 - blend) * inverse / m.rope.factor + blend * inverse;
        Tensor scaled =
            torch::where(wavelength > context / m.rope.low_freq_factor, inverse / m.rope.factor, inverse);
        const Tensor middle = (wavelength <= context / m.rope.low_freq_factor) &
                              (wavelength >= context / m.rope.high_freq_factor);
        inverse = torch::where(middle, smooth, scaled);
    }
    if (scaling == "yarn") inverse = yarn(m, inverse);
    const double factor = scaling == "yarn" ? 0.1 * std::log(m.rope.factor) + 1 : 1;
    const Tensor angles = torch::outer(torch::arange(n, torch::kDouble), inverse);
    const Tensor both = torch::cat({angles, angles}, 1).unsqueeze(1);
    return {(both.cos() * factor).to(options), (both.sin() * factor).to(options)};
}

Tensor rotated(const Tensor& x, const std::pair<Tensor, Tensor>& by) {
    const auto halves = x.chunk(2, -1);
    return x * by.first + torch::cat({-halves[1], halves[0]}, -1) * by.second;
}

// [N, N]: whether a query (row) sees a key.
Tensor seen_keys(int64_t n, int64_t window, const ReferenceSelection& selection, size_t layer) {
    const Tensor at = torch::arange(n);
    Tensor seen = at.unsqueeze(0) <= at.unsqueeze(1);
    if (window > 0) seen = seen & (at.unsqueeze(0) > at.unsqueeze(1) - window);
    if (layer >= selection.pages.size() || selection.pages[layer].empty()) return seen;
    const auto& rows = selection.pages[layer];
    const int64_t blocks_of_chunk = (selection.chunk + selection.block - 1) / selection.block;
    const Tensor chunk = at.floor_divide(selection.chunk);
    const Tensor block =
        chunk * blocks_of_chunk + at.remainder(selection.chunk).floor_divide(selection.block);
    Tensor chosen = torch::zeros({static_cast<int64_t>(rows.size()), n / selection.page + 1}, torch::kBool);
    for (size_t row = 0; row < rows.size(); ++row)
        for (const int32_t page : rows[row]) chosen[static_cast<int64_t>(row)][page] = true;
    const Tensor selected = chosen.index_select(0, block).index_select(1, at.floor_divide(selection.page));
    return seen & (selected | (chunk.unsqueeze(0) == chunk.unsqueeze(1)));
}

// x [N, g, d] as its pages hold it: 3 bits behind the point, exponents from -6 on, of x over the scale.
Tensor as_paged(const Tensor& x, const ReferencePages& pages) {
    const Tensor plain = x.detach();
    if (!pages.fp8) return x + (plain.to(torch::kBFloat16).to(x.scalar_type()) - plain);
    std::vector<Tensor> rounded;
    for (const Tensor& part : plain.split(pages.page)) {
        const Tensor most = part.abs().amax({0, 2}, true);
        const Tensor scale =
            torch::where(most > 0, most / 448, torch::ones_like(most)).to(torch::kFloat).to(x.scalar_type());
        const Tensor scaled = part / scale;
        const Tensor step = torch::exp2(scaled.abs().clamp_min(1.0 / 64).log2().floor() - 3);
        rounded.push_back((scaled / step).round().mul(step).mul(scale));
    }
    return x + (torch::cat(rounded) - plain);
}

// `sinks` [h]: a further logit of each head, without a value; or undefined.
Tensor attention(const Model& m, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen,
                 const Tensor& sinks, const ReferencePages& pages) {
    const int64_t n = q.size(0), repeat = q.size(1) / k.size(1);
    const auto keys_of = [&](const Tensor& x) { return x.repeat_interleave(repeat, 1).permute({1, 2, 0}); };
    const auto values_of = [&](const Tensor& x) { return x.repeat_interleave(repeat, 1).permute({1, 0, 2}); };
    const double scalar = m.query_scalar > 0 ? m.query_scalar : static_cast<double>(m.head_dim);
    const Tensor queries = q.permute({1, 0, 2}) / std::sqrt(scalar);
    Tensor scores = torch::matmul(queries, keys_of(k)), own;
    if (pages.chunk > 0) {
        const Tensor chunk = torch::arange(n).floor_divide(pages.chunk);
        own = chunk.unsqueeze(0) == chunk.unsqueeze(1);
        scores = torch::where(own, scores, torch::matmul(queries, keys_of(as_paged(k, pages))));
    }
    scores = scores.masked_fill(~seen, -std::numeric_limits<double>::infinity());
    if (sinks.defined()) scores = torch::cat({scores, sinks.view({-1, 1, 1}).expand({-1, n, 1})}, -1);
    const Tensor p = torch::softmax(scores, -1).narrow(-1, 0, n);
    const Tensor out = pages.chunk == 0 ? torch::matmul(p, values_of(v))
                                        : torch::matmul(p * own, values_of(v)) +
                                              torch::matmul(p * ~own, values_of(as_paged(v, pages)));
    return out.permute({1, 0, 2}).reshape({n, -1});
}

// The weight that LoRA makes of `weight` [out, in], whose rows are those of the projections `modules`: W +
// scale B A for each that has an adapter. `adapters`: by name.
Tensor adapted(const Tensor& weight, int64_t layer,
               const std::vector<std::pair<std::string, int64_t>>& modules,
               const std::map<std::string, Tensor>& adapters, double scale) {
    std::vector<Tensor> rows;
    int64_t first = 0;
    for (const auto& [module, size] : modules) {
        const std::string name = "base_model.model.model.layers." + std::to_string(layer) + "." + module;
        Tensor part = weight.narrow(0, first, size);
        const auto a = adapters.find(name + ".lora_A.weight"), b = adapters.find(name + ".lora_B.weight");
        if (a != adapters.end()) part = part + scale * torch::matmul(b->second, a->second);
        rows.push_back(part);
        first += size;
    }
    return torch::cat(rows, 0);
}

// Mean loss of one sequence.
Tensor loss_of(const Model& m, const ModelParameters& p, const Tensor& tokens, bool honour_windows,
               const ReferenceSelection& selection, const ReferencePages& pages) {
    const bool gemma = m.type.starts_with("gemma3"), four = m.norms_per_layer == 4;
    const int64_t n = tokens.size(0), d = m.head_dim;
    Tensor x = torch::embedding(p.embedding, tokens);
    if (gemma) x = x * std::sqrt(static_cast<double>(m.hidden));
    for (size_t l = 0; l < p.layers.size(); ++l) {
        const LayerParameters& w = p.layers[l];
        const auto by = rotation(m, m.layers[l], n, p.embedding.options().requires_grad(false));
        Tensor qkv = torch::matmul(normed(x, w.input_norm, m), w.qkv.t());
        if (w.qkv_bias.defined()) qkv = qkv + w.qkv_bias;
        const auto parts = qkv.split_with_sizes({m.q_size(), m.kv_size(), m.kv_size()}, 1);
        Tensor q = parts[0].view({n, m.heads, d}), k = parts[1].view({n, m.kv_heads, d});
        if (m.qk_norm) {
            q = normed(q, w.q_norm, m);
            k = normed(k, w.k_norm, m);
        }
        const Tensor seen = seen_keys(n, honour_windows ? m.layers[l].window : 0, selection, l);
        Tensor out = torch::matmul(attention(m, rotated(q, by), rotated(k, by),
                                             parts[2].reshape({n, m.kv_heads, d}), seen, w.sinks, pages),
                                   w.out.t());
        if (w.out_bias.defined()) out = out + w.out_bias;
        x = x + (four ? normed(out, w.post_attention_norm, m) : out);
        const auto gate_up = torch::matmul(normed(x, w.mlp_norm, m), w.gate_up.t()).chunk(2, 1);
        const Tensor gate = gemma ? torch::gelu(gate_up[0], "tanh") : torch::silu(gate_up[0]);
        const Tensor down = torch::matmul(gate * gate_up[1], w.down.t());
        x = x + (four ? normed(down, w.post_mlp_norm, m) : down);
    }
    const Tensor logits = torch::matmul(normed(x, p.final_norm, m), p.head.t());
    return torch::nll_loss(torch::log_softmax(logits.narrow(0, 0, n - 1), 1), tokens.narrow(0, 1, n - 1));
}

// The weights that the adapters make of those of `p`.
void adapt(const Model& m, const Recipe& recipe, const Tensor& flat, ModelParameters& p) {
    std::map<std::string, Tensor> adapters;
    for (const Parameter& part : adapter_list(m, recipe))
        adapters[part.weight.name] = flat.narrow(0, part.offset, part.elements()).view(part.weight.shape);
    const double scale = recipe.lora_alpha / static_cast<double>(recipe.lora_rank);
    for (size_t l = 0; l < p.layers.size(); ++l) {
        const auto change = [&](Tensor& weight, const std::vector<std::pair<std::string, int64_t>>& modules) {
            weight = adapted(weight, static_cast<int64_t>(l), modules, adapters, scale);
        };
        LayerParameters& w = p.layers[l];
        change(w.qkv, {{"self_attn.q_proj", m.q_size()},
                       {"self_attn.k_proj", m.kv_size()},
                       {"self_attn.v_proj", m.kv_size()}});
        change(w.out, {{"self_attn.o_proj", m.hidden}});
        change(w.gate_up, {{"mlp.gate_proj", m.intermediate}, {"mlp.up_proj", m.intermediate}});
        change(w.down, {{"mlp.down_proj", m.hidden}});
    }
}

}  // namespace

ReferenceResult reference_step(const Model& m, const at::Tensor& weights, const at::Tensor& tokens,
                               bool honour_windows, const ReferenceSelection& selection,
                               const ReferenceAdapters& adapters, const ReferencePages& pages) {
    const torch::AutoGradMode with_gradients(true);
    const bool lora = adapters.flat.defined();
    const Tensor trained = (lora ? adapters.flat : weights).detach().clone().requires_grad_(true);
    ModelParameters p = parameters_in(m, lora ? weights : trained);
    if (lora) adapt(m, adapters.recipe, trained, p);
    const Tensor sequences = tokens.view({-1, tokens.size(-1)});
    Tensor loss = torch::zeros({}, torch::kDouble);
    for (const Tensor& sequence : sequences.unbind(0))
        loss = loss + loss_of(m, p, sequence, honour_windows, selection, pages) / sequences.size(0);
    loss.backward();
    return {loss.item<double>(), trained.grad()};
}

}  // namespace headroom::engine
