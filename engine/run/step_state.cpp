#include "run/step_state.h"

#include <algorithm>

namespace headroom::engine {

at::ScalarType scalar_type(Dtype dtype) {
    switch (dtype) {
        case Dtype::fp64:
            return at::kDouble;
        case Dtype::fp32:
            return at::kFloat;
        case Dtype::bf16:
            return at::kBFloat16;
        case Dtype::fp16:
            return at::kHalf;
        default:
            break;
    }
    TORCH_CHECK(false, "no tensor type for ", name_of(dtype));
}

namespace {

// Chunks that a later one reads.
int64_t paged_chunks(const Plan& plan) {
    return plan.chunks() - 1;
}

int64_t pool_units(const Plan& plan, const Program& program) {
    const int64_t values = plan.decisions.page.count() * plan.model.kv_size();
    for (const Buffer& b : program.buffers) {
        if (b.name == "page pool") return b.bytes / bytes_of(plan.decisions.kv, 2 * values).count();
    }
    return 0;
}

}  // namespace

Executor::State::State(const Plan& p, const Program& prog, at::Tensor memory, OptimizerSettings optimizer)
    : plan(p),
      program(prog),
      arena(std::move(memory)),
      settings(optimizer),
      type_(scalar_type(p.decisions.weights)),
      sum_(sum_type(type_)),
      pages_(p.model.layer_count(), paged_chunks(p) * p.decisions.chunk.count() / p.decisions.page.count(),
             pool_units(p, prog)) {
    TORCH_CHECK(arena.scalar_type() == at::kByte && arena.numel() >= program.arena[0],
                "the arena is smaller than the program needs");
    for (BufferId i = 0; i < program.buffers.size(); ++i) {
        // What this plan never needs has no bytes.
        if (program.buffers[i].bytes > 0) by_name_[program.buffers[i].name] = i;
    }
    const int64_t count = count_parameters(plan.model).total();
    weights = view("weights", {count}, type_);
    parameters_ = parameters_in(plan.model, weights);
    trained = weights;
    if (plan.recipe.lora_rank > 0) {
        trained = adapters = view("adapters", {ParameterUnits(plan).adapters}, type_);
        adapters_ = adapters_in(plan.model, plan.recipe, adapters);
    }
    gradients = view("weight gradients", {trained.numel()}, scalar_type(plan.recipe.gradients));
    if (plan.recipe.optimizer == Optimizer::adamw)
        states = view("optimizer states", {2, trained.numel()}, scalar_type(plan.recipe.states));
    if (adapters.defined()) {
        adapter_sums_ = adapters_in(plan.model, plan.recipe, gradients);
        sums_.layers.resize(plan.model.layers.size());
    } else {
        sums_ = parameters_in(plan.model, gradients);
    }
    touched_from_.assign(static_cast<size_t>(plan.model.layer_count()), 0);
    tokens_ = view("token ids", {plan.recipe.batch, plan.context.count()}, at::kInt);
    random_ = arena.is_cpu() ? at::detail::getDefaultCPUGenerator().clone()
                             : at::globalContext().defaultGenerator(arena.device()).clone();
}

at::Tensor Executor::State::view(const std::string& name, at::IntArrayRef sizes, at::ScalarType type,
                                 int64_t offset) const {
    const auto at = by_name_.find(name);
    TORCH_CHECK(at != by_name_.end(), "the program has no buffer '", name, "'");
    const Buffer& b = program.buffers[at->second];
    int64_t elements = 1;
    for (const int64_t s : sizes) elements *= s;
    const int64_t bytes = elements * static_cast<int64_t>(c10::elementSize(type));
    TORCH_CHECK(b.tier == Tier::device && offset + bytes <= b.bytes, "buffer '", name, "' has ", b.bytes,
                " bytes, not ", offset + bytes);
    return at::from_blob(static_cast<uint8_t*>(arena.data_ptr()) + b.address + offset, sizes,
                         arena.options().dtype(type));
}

at::Tensor Executor::State::rows(const std::string& name, int64_t columns) const {
    return view(name, {rows_, columns}, type_);
}

std::string Executor::State::of_layer(const char* name, int64_t layer) const {
    return std::string(name) + " of layer " + std::to_string(layer);
}

std::pair<at::Tensor, at::Tensor> Executor::State::attention_in(const std::string& name) const {
    // Buffers are sized for a full chunk; the log-sum-exp stands behind all of its outputs.
    const Model& m = plan.model;
    const int64_t full = std::min(plan.decisions.chunk.count(), plan.context.count());
    return {view(name, {rows_, m.heads, m.head_dim}, type_),
            view(name, {rows_, m.heads}, sum_, full * m.q_size() * element())};
}

LayerViews Executor::State::make_views(const std::string& x, const std::string& qkv,
                                       const std::string& attention, const std::string& x_mid,
                                       const std::string& gate_up) const {
    const Model& m = plan.model;
    const int64_t Q = m.q_size(), KV = m.kv_size(), d = m.head_dim;
    LayerViews v;
    v.x = rows(x, m.hidden);
    v.x_mid = rows(x_mid, m.hidden);
    v.qkv = rows(qkv, Q + 2 * KV);
    v.raw_q = v.q = v.qkv.narrow(1, 0, Q).unflatten(1, {m.heads, d});
    v.raw_k = v.k = v.qkv.narrow(1, Q, KV).unflatten(1, {m.kv_heads, d});
    if (m.qk_norm) {
        const at::Tensor rotated = rows("rotated q and k", Q + KV);
        v.q = rotated.narrow(1, 0, Q).unflatten(1, {m.heads, d});
        v.k = rotated.narrow(1, Q, KV).unflatten(1, {m.kv_heads, d});
    }
    v.v = v.qkv.narrow(1, Q + KV, KV).unflatten(1, {m.kv_heads, d});
    std::tie(v.attention, v.lse) = attention_in(attention);
    v.gate_up = rows(gate_up, 2 * m.intermediate);
    return v;
}

// As program/chunk_step.cpp lays them out.
const LayerViews& Executor::State::layer_views() {
    if (views_known_) return views_;
    const Decisions& d = plan.decisions;
    if (pass_ == Pass::fill) {
        views_ = make_views("hidden 0", "qkv", "attention", "hidden 0", "gate_up");
    } else if (d.activations == Activations::keep) {
        views_ = make_views(of_layer("x", layer_), of_layer("qkv", layer_), of_layer("attention", layer_),
                            of_layer("x_mid", layer_), of_layer("gate_up", layer_));
    } else {
        const bool kept = d.attention_outputs != AttentionOutputs::recompute;
        views_ = make_views(of_layer("x", layer_), "qkv", kept ? of_layer("attention", layer_) : "attention",
                            "x_mid", "gate_up");
    }
    views_known_ = true;
    return views_;
}

// No page of the sequence before is left.
void Executor::State::begin_sequence() {
    std::fill(touched_from_.begin(), touched_from_.end(), plan.context.count());
}

void Executor::State::enter(const Op& op) {
    if (op.sequence != sequence_id_) {
        ++sequence_;
        sequence_id_ = op.sequence;
        begin_sequence();
    }
    const int64_t chunk = op.chunk == kNone ? -1 : op.chunk, layer = op.layer == kNoLayer ? -1 : op.layer;
    if (op.pass == pass_ && chunk == chunk_ && layer == layer_) return;
    pass_ = op.pass;
    chunk_ = chunk;
    layer_ = layer;
    rows_ = chunk < 0 ? 0 : plan.chunk_tokens(chunk);
    views_known_ = false;
}

void Executor::State::begin(const at::Tensor& tokens) {
    const int64_t n = plan.context.count(), batch = plan.recipe.batch;
    TORCH_CHECK(tokens.numel() == batch * n, "expected ", batch, " x ", n, " tokens, got ", tokens.sizes());
    const at::Tensor sequences = tokens.view({batch, n});
    tokens_.copy_(sequences);
    targets_ = at::full({batch, n}, -1, tokens_.options().dtype(at::kLong));
    if (n > 1) targets_.narrow(1, 0, n - 1).copy_(sequences.narrow(1, 1, n - 1));
    target_scale_ = n > 1 ? 1.0 / static_cast<double>(batch * (n - 1)) : 0;
    loss_sum_ = at::zeros({}, arena.options().dtype(at::kDouble));
    norm_ = 0;
    chunk_ = layer_ = -1;
    pass_ = Pass::setup;
    sequence_ = sequence_id_ = 0;
    begin_sequence();
    next_norm_ = Norm::attention;
    next_norm_backward_ = Norm::mlp;
    next_gradient_ = Projection::down;
    random_.set_current_seed(settings.seed + static_cast<uint64_t>(steps));
}

void Executor::State::multiply(Projection projection, at::Tensor out, const at::Tensor& left,
                               const at::Tensor& right) {
    at::mm_out(out, left, right);
    projection_ = projection;
}

Result<void> Executor::State::run(OpId id) {
    const Op& op = program.ops[id];
    enter(op);
    switch (op.kind) {
        case OpKind::zero:
            gradients.zero_();
            break;
        case OpKind::embed:
            embed();
            break;
        case OpKind::norm:
            norm();
            break;
        case OpKind::qkv:
            qkv();
            break;
        case OpKind::rope:
            HEADROOM_CHECK(rope());
            break;
        case OpKind::attention_own:
            attention_own();
            break;
        case OpKind::attention_past:
            attention_past(op);
            break;
        case OpKind::merge:
            merge();
            break;
        case OpKind::attention_out:
            attention_out();
            break;
        case OpKind::gate_up:
            multiply(Projection::gate_up, layer_views().gate_up, rows("normed", plan.model.hidden),
                     w().gate_up.t());
            break;
        case OpKind::activation:
            swiglu(layer_views().gate_up, rows("activation", plan.model.intermediate));
            break;
        case OpKind::down:
            down();
            break;
        case OpKind::head:
            head();
            break;
        case OpKind::loss:
            break;  // by head(), tile by tile
        case OpKind::head_backward:
            break;
        case OpKind::weight_gradient:
            weight_gradient();
            break;
        case OpKind::down_backward:
            multiply(Projection::down, rows("d activation", plan.model.intermediate),
                     rows("d hidden", plan.model.hidden), w().down);
            break;
        case OpKind::activation_backward:
            swiglu_backward(layer_views().gate_up, rows("d activation", plan.model.intermediate));
            next_norm_ = Norm::mlp;
            break;
        case OpKind::gate_up_backward:
            multiply(Projection::gate_up, rows("d normed", plan.model.hidden), layer_views().gate_up,
                     w().gate_up);
            break;
        case OpKind::norm_backward:
            norm_backward();
            break;
        case OpKind::attention_out_backward:
            multiply(Projection::out, rows("d attention", plan.model.q_size()),
                     rows("d hidden", plan.model.hidden), w().out);
            break;
        case OpKind::attention_own_backward:
            attention_own_backward();
            break;
        case OpKind::attention_past_backward:
            attention_past_backward(op);
            break;
        case OpKind::accumulate_kv_gradients:
            HEADROOM_CHECK(accumulate(op));
            break;
        case OpKind::rope_backward:
            rope_backward();
            break;
        case OpKind::qkv_backward:
            multiply(Projection::qkv, rows("d normed", plan.model.hidden),
                     rows("d qkv", plan.model.q_size() + 2 * plan.model.kv_size()), w().qkv);
            break;
        case OpKind::lora:
            adapt(false);
            break;
        case OpKind::lora_backward:
            adapt(true);
            break;
        case OpKind::embed_backward:
            embed_backward();
            break;
        case OpKind::gradient_norm:
            gradient_norm_op();
            break;
        case OpKind::update:
            update(op);
            break;
        default:
            return fail("op " + std::to_string(id), "'" + std::string(name_of(op.kind)) + "'",
                        "an operation that the engine runs", Fault::run_failed);
    }
    return {};
}

}  // namespace headroom::engine
