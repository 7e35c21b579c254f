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
        case Dtype::fp8:
            return at::kFloat8_e4m3fn;
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
                       OptimizerSettings optimizer_settings, PageFile* page_file)
    : plan(p),
      program(prog),
      arena(std::move(memory)),
      host(std::move(host_memory)),
      disk(page_file),
      settings(optimizer_settings),
      streams(make_streams(arena.device(), prog)),
      type_(scalar_type(p.decisions.weights)),
      sum_(sum_type(type_)),
      units_(page_units(p)) {
    TORCH_CHECK(arena.scalar_type() == at::kByte && arena.numel() >= program.arena[0],
                "the arena is smaller than the program needs");
    TORCH_CHECK(program.arena[1] == 0 || (host.defined() && host.numel() >= program.arena[1]),
                "the host arena is smaller than the program needs");
    TORCH_CHECK(program.arena[2] == 0 || (disk != nullptr && disk->bytes().count() >= program.arena[2]),
                "the file for pages is smaller than the program needs");
    for (BufferId i = 0; i < program.buffers.size(); ++i) {
        // What this plan never needs has no bytes.
        if (program.buffers[i].bytes > 0) by_name_[program.buffers[i].name] = i;
    }
    const int64_t count = count_parameters(plan.model).total();
    weights = view("weights", {count}, type_);
    // Those of the host have no views: what is loaded has.
    if (p.decisions.weights_home == Home::device) parameters_ = parameters_in(plan.model, weights);
    parameters_.layers.resize(plan.model.layers.size());
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
    if (p.decisions.gradients_home == Home::device) {
        if (adapters.defined()) adapter_sums_ = adapters_in(plan.model, plan.recipe, gradients);
        if (!adapters.defined()) sums_ = parameters_in(plan.model, gradients);
    }
    adapter_sums_.resize(plan.model.layers.size());
    sums_.layers.resize(plan.model.layers.size());
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

// No page of the sequence before is left.
void Executor::State::begin_sequence() {
    std::fill(touched_from_.begin(), touched_from_.end(), plan.context.count());
    make_page_caches();
    make_waiting_pages();
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
    views_known_ = past_backward_ = use_known_ = false;
}

void Executor::State::begin(const at::Tensor& tokens) {
    const int64_t n = plan.context.count(), batch = plan.recipe.batch;
    TORCH_CHECK(tokens.numel() == batch * n, "expected ", batch, " x ", n, " tokens, got ", tokens.sizes());
    tokens_.copy_(tokens.view({batch, n}));
    if (plan.decisions.weights_home == Home::host) {
        const at::Tensor ids = tokens.to(at::kCPU, at::kLong).contiguous();
        host_ids_.assign(ids.const_data_ptr<int64_t>(), ids.const_data_ptr<int64_t>() + ids.numel());
    }
    // No op clears these sums: rows are added to them.
    if (plan.decisions.gradients_home == Home::host && !adapters.defined() && !plan.model.tied_embeddings)
        gradients.narrow(0, 0, plan.model.vocabulary * plan.model.hidden).zero_();
    target_scale_ = n > 1 ? 1.0 / static_cast<double>(batch * (n - 1)) : 0;
    loss_sum_.zero_();
    norm_ = 0;
    loaded_page_bytes = stored_page_bytes = disk_read_bytes = disk_written_bytes = 0;
    disk_failed_ = false;
    chunk_ = layer_ = -1;
    pass_ = Pass::setup;
    backward_ = false;
    selection_copy_ = kNone;
    list_users_.fill(kNone);
    for (Ring* ring :
         {&kv_slots_, &own_slots_, &gradient_slots_, &own_gradient_slots_, &output_slots_, &input_slots_,
          &input_out_slots_, &layer_weight_slots_, &layer_gradient_slots_, &update_slots_, &bounce_slots_})
        ring->item = 0;
    sequence_ = sequence_id_ = 0;
    begin_sequence();
    next_norm_ = Norm::attention;
    next_norm_backward_ = four_norms_ ? Norm::post_mlp : Norm::mlp;
    next_gradient_ = Projection::down;
}

}  // namespace headroom::engine
