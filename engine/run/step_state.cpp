#include "run/step_state.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

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

double value_of(const at::Tensor& one) {
    if (one.is_cpu()) return *one.const_data_ptr<double>();
    double value = 0;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream(one.device().index());
    C10_CUDA_CHECK(
        cudaMemcpyAsync(&value, one.const_data_ptr<double>(), sizeof value, cudaMemcpyDeviceToHost, stream));
    C10_CUDA_CHECK(cudaStreamSynchronize(stream));
    return value;
}

Executor::State::State(const Plan& p, const Program& prog, at::Tensor memory, at::Tensor host_memory,
                       OptimizerSettings optimizer_settings)
    : plan(p),
      program(prog),
      arena(std::move(memory)),
      host(std::move(host_memory)),
      settings(optimizer_settings),
      streams(make_streams(arena.device(), prog)),
      type_(scalar_type(p.decisions.weights)),
      sum_(sum_type(type_)) {
    TORCH_CHECK(arena.scalar_type() == at::kByte && arena.numel() >= program.arena[0],
                "the arena is smaller than the program needs");
    TORCH_CHECK(program.arena[1] == 0 || (host.defined() && host.numel() >= program.arena[1]),
                "the host arena is smaller than the program needs");
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
    if (by_name_.contains("optimizer states")) {
        const int64_t bytes = ParameterBytes(plan).states_of(trained.numel()).count();
        states = view("optimizer states", {bytes}, at::kByte);
        optimizer = optimizer_state_in(plan.recipe, trained.numel(), states);
    }
    if (adapters.defined()) {
        adapter_sums_ = adapters_in(plan.model, plan.recipe, gradients);
        sums_.layers.resize(plan.model.layers.size());
    } else {
        sums_ = parameters_in(plan.model, gradients);
    }
    four_norms_ = plan.model.norms_per_layer == 4;
    gelu_ = plan.model.activation == "gelu_pytorch_tanh";
    embedding_scale_ = at::scalar_tensor(embedding_scale(plan.model), type_).item<double>();
    touched_from_.assign(static_cast<size_t>(plan.model.layer_count()), 0);
    tokens_ = view("token ids", {plan.recipe.batch, plan.context.count()}, at::kInt);
    loss_sum_ = view("loss and gradient norm", {}, at::kDouble);
    squares_ = view("loss and gradient norm", {}, at::kDouble, sizeof(double));
    scratch_ = whole("reduction scratch");
    ropes_.resize(static_cast<size_t>(plan.decisions.wavefront * rope_kinds(plan.model)));
    const Decisions& d = plan.decisions;
    kv_slots_ = {"staged pages", d.staging_slots};
    own_slots_ = {"own pages", d.wavefront + 1};
    gradient_slots_ = {"staged page gradients", d.staging_slots};
    own_gradient_slots_ = {"own page gradients", 2};
    output_slots_ = {"attention outputs", d.wavefront + 1};
    input_slots_ = {"layer inputs", d.staging_slots};
    input_out_slots_ = {"layer inputs out", d.staging_slots};
    make_page_tables();
}

void Executor::State::make_page_tables() {
    const Decisions& d = plan.decisions;
    const int64_t layers = plan.model.layer_count();
    const int64_t pages = paged_chunks(plan) * d.chunk.count() / d.page.count();
    const auto table = [&](const std::string& pool, PastPlace place) {
        const Buffer* b = find(pool);
        const auto lives_here = [&](PageKind kind, int64_t layer, int64_t page) {
            const Residency& r = kind == PageKind::kv ? d.kv_residency : d.kv_gradient_residency;
            return past_place(plan, r, layer, page * d.page.count()) == place;
        };
        return PageTable(layers, pages, b == nullptr ? 0 : b->bytes / (2 * unit_bytes()), lives_here, pool);
    };
    pages_ = table("page pool", PastPlace::device);
    host_pages_ = table("host page pool", PastPlace::host);
}

int64_t Executor::State::unit_bytes() const {
    const int64_t values = plan.decisions.page.count() * plan.model.kv_size();
    return std::min(bytes_of(plan.decisions.kv, values).count(),
                    bytes_of(plan.decisions.kv_gradients, values).count());
}

const Buffer* Executor::State::find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &program.buffers[at->second];
}

const Buffer& Executor::State::need(const std::string& name) const {
    const Buffer* b = find(name);
    TORCH_CHECK(b != nullptr, "the program has no buffer '", name, "'");
    return *b;
}

std::byte* Executor::State::data(const Buffer& b) const {
    return static_cast<std::byte*>((b.tier == Tier::device ? arena : host).data_ptr()) + b.address;
}

at::Tensor Executor::State::view(const std::string& name, at::IntArrayRef sizes, at::ScalarType type,
                                 int64_t offset) const {
    const Buffer& b = need(name);
    int64_t elements = 1;
    for (const int64_t s : sizes) elements *= s;
    const int64_t bytes = elements * static_cast<int64_t>(c10::elementSize(type));
    TORCH_CHECK(b.tier == Tier::device && offset + bytes <= b.bytes, "buffer '", name, "' has ", b.bytes,
                " bytes, not ", offset + bytes);
    // target_device: else ATen asks CUDA where the memory lies.
    return at::for_blob(data(b) + offset, sizes)
        .options(arena.options().dtype(type))
        .target_device(arena.device())
        .make_tensor();
}

at::Tensor Executor::State::rows(const std::string& name, int64_t columns) const {
    return view(name, {rows_, columns}, type_);
}

at::Tensor Executor::State::whole(const std::string& name) const {
    return view(name, {need(name).bytes}, at::kByte);
}

std::string Executor::State::of_layer(const char* name, int64_t layer) const {
    return std::string(name) + " of layer " + std::to_string(layer);
}

std::pair<at::Tensor, at::Tensor> Executor::State::attention_in(const std::string& name,
                                                                int64_t offset) const {
    // Buffers are sized for a full chunk; the log-sum-exp stands behind all of its outputs.
    const Model& m = plan.model;
    return {view(name, {rows_, m.heads, m.head_dim}, type_, offset),
            view(name, {m.heads, rows_}, sum_, offset + full_rows() * m.q_size() * element()).t()};
}

int64_t Executor::State::full_rows() const {
    return std::min(plan.decisions.chunk.count(), plan.context.count());
}

int64_t Executor::State::output_bytes() const {
    const Model& m = plan.model;
    return full_rows() * (m.q_size() * element() + m.heads * static_cast<int64_t>(c10::elementSize(sum_)));
}

int64_t Executor::State::output_offset() const {
    return (chunk_ * plan.model.layer_count() + layer_) * output_bytes();
}

bool Executor::State::keeps_outputs() const {
    const AttentionOutputs kept = plan.decisions.attention_outputs;
    return chunk_ + 1 < plan.chunks() && (kept == AttentionOutputs::device || kept == AttentionOutputs::host);
}

std::string Executor::State::hidden() const {
    return "hidden " + std::to_string(pass_ == Pass::fill ? chunk_ % plan.decisions.wavefront : 0);
}

std::string Executor::State::layer_input(int64_t layer) const {
    return plan.decisions.activations == Activations::checkpoint_host ? "x" : of_layer("x", layer);
}

LayerViews Executor::State::make_views(const std::string& x, const std::string& qkv,
                                       std::pair<at::Tensor, at::Tensor> attention, const std::string& x_mid,
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
    std::tie(v.attention, v.lse) = std::move(attention);
    v.gate_up = rows(gate_up, 2 * m.intermediate);
    return v;
}

// As program/chunk_step.cpp lays them out.
const LayerViews& Executor::State::layer_views() {
    if (views_known_) return views_;
    const Decisions& d = plan.decisions;
    const std::string attention = of_layer("attention", layer_);
    if (pass_ == Pass::fill) {
        // What the gradient pass will read is computed where it is kept, or where its copy begins.
        auto out = attention_in(
            !keeps_outputs()                                ? "attention"
            : d.attention_outputs == AttentionOutputs::host ? output_slots_.slot()
                                                            : "attention outputs of the fill pass",
            keeps_outputs() && d.attention_outputs == AttentionOutputs::device ? output_offset() : 0);
        views_ = make_views(hidden(), "qkv", std::move(out), hidden(), "gate_up");
    } else if (d.activations == Activations::keep) {
        views_ = make_views(layer_input(layer_), of_layer("qkv", layer_), attention_in(attention),
                            of_layer("x_mid", layer_), of_layer("gate_up", layer_));
    } else {
        const bool kept = d.attention_outputs != AttentionOutputs::recompute;
        const bool loaded = backward_ && d.activations == Activations::checkpoint_host;
        views_ = make_views(loaded ? input_slot_ : layer_input(layer_), "qkv",
                            attention_in(kept ? attention : "attention"), "x_mid", "gate_up");
    }
    if (four_norms_) {
        const bool kept = pass_ != Pass::fill && d.activations == Activations::keep;
        const auto name = [&](const char* base) { return kept ? of_layer(base, layer_) : base; };
        views_.out = rows(name("attention projected"), plan.model.hidden);
        views_.down = rows(name("mlp projected"), plan.model.hidden);
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
    views_known_ = past_backward_ = false;
}

void Executor::State::begin(const at::Tensor& tokens) {
    const int64_t n = plan.context.count(), batch = plan.recipe.batch;
    TORCH_CHECK(tokens.numel() == batch * n, "expected ", batch, " x ", n, " tokens, got ", tokens.sizes());
    tokens_.copy_(tokens.view({batch, n}));
    target_scale_ = n > 1 ? 1.0 / static_cast<double>(batch * (n - 1)) : 0;
    loss_sum_.zero_();
    norm_ = 0;
    chunk_ = layer_ = -1;
    pass_ = Pass::setup;
    backward_ = false;
    selection_copy_ = kNone;
    list_users_.fill(kNone);
    for (Ring* ring : {&kv_slots_, &own_slots_, &gradient_slots_, &own_gradient_slots_, &output_slots_,
                       &input_slots_, &input_out_slots_})
        ring->item = 0;
    sequence_ = sequence_id_ = 0;
    begin_sequence();
    next_norm_ = Norm::attention;
    next_norm_backward_ = four_norms_ ? Norm::post_mlp : Norm::mlp;
    next_gradient_ = Projection::down;
}

void Executor::State::multiply(Projection projection, at::Tensor out, const at::Tensor& left,
                               const at::Tensor& right) {
    at::mm_out(out, left, right);
    projection_ = projection;
}

Result<void> Executor::State::run(OpId id) {
    const Op& op = program.ops[id];
    op_ = id;
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
        case OpKind::page_means:
            page_means_op();
            break;
        case OpKind::select:
            select_op();
            break;
        case OpKind::selection_to_host:
            HEADROOM_CHECK(selection_to_host());
            break;
        case OpKind::gather_pages:
            gather_selected();
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
            swiglu(layer_views().gate_up, rows("activation", plan.model.intermediate), gelu_);
            break;
        case OpKind::down:
            down();
            break;
        case OpKind::head:
            head();
            break;
        case OpKind::loss:
        case OpKind::head_backward:
            break;  // by head(), tile by tile
        case OpKind::weight_gradient:
            weight_gradient();
            break;
        case OpKind::down_backward:
            multiply(Projection::down, rows("d activation", plan.model.intermediate), d_projected(),
                     w().down);
            break;
        case OpKind::activation_backward:
            swiglu_backward(layer_views().gate_up, rows("d activation", plan.model.intermediate), gelu_);
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
            multiply(Projection::out, rows("d attention", plan.model.q_size()), d_projected(), w().out);
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
        case OpKind::load_pages:
            HEADROOM_CHECK(load_pages(op));
            break;
        case OpKind::store_pages:
            HEADROOM_CHECK(store_pages());
            break;
        case OpKind::load_page_gradients:
            HEADROOM_CHECK(load_page_gradients(op));
            break;
        case OpKind::store_page_gradients:
            HEADROOM_CHECK(store_page_gradients());
            break;
        case OpKind::store_attention_outputs:
            HEADROOM_CHECK(move_buffer("host attention outputs", output_offset(), output_slots_.next(), 0,
                                       output_bytes()));
            break;
        case OpKind::load_attention_outputs:
            HEADROOM_CHECK(move_buffer(of_layer("attention", layer_), 0, "host attention outputs",
                                       output_offset(), output_bytes()));
            break;
        case OpKind::store_activations:
            HEADROOM_CHECK(move_buffer("host layer inputs", layer_ * input_bytes(), input_out_slots_.next(),
                                       0, input_bytes()));
            break;
        case OpKind::load_activations:
            input_slot_ = input_slots_.next();
            HEADROOM_CHECK(
                move_buffer(input_slot_, 0, "host layer inputs", layer_ * input_bytes(), input_bytes()));
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
    if (op.stream == Stream::compute) before_ = op.kind;
    return {};
}

}  // namespace headroom::engine
