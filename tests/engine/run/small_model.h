// Small plans that the engine runs on the CPU, and what one step of them gives.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <string>

#include "program/layer.h"
#include "program/program.h"
#include "reference/reference.h"
#include "run/executor.h"
#include "run/supported.h"
#include "sim/program/small_plan.h"
#include "strategy/strategy.h"

namespace headroom::engine::test {

struct Family {
    std::string type;
    bool bias = false, tied = false;
    int64_t window = 0;
    std::string scaling;
    bool qk_norm = false;
    bool gemma = false;  // four norms, GELU, scaled queries, a rotary frequency of windows
    bool sinks = false;  // of attention, and biases of all its projections
};

// hidden 64, 4 query and 2 KV heads of 16, 3 layers; every tensor in `dtype`; SGD.
inline Plan small_plan(const Family& family, Dtype dtype, int64_t context, int64_t chunk, int64_t page) {
    Plan p = headroom::test::tiny_plan();
    p.model.type = family.type;
    p.model.qkv_bias = family.bias;
    p.model.tied_embeddings = family.tied;
    p.model.qk_norm = family.qk_norm;
    // gemma3: two windowed layers, then a full one; gpt_oss: every second one is windowed.
    for (size_t l = 0; l < p.model.layers.size(); ++l) {
        const bool full = (family.gemma && l == 2) || (family.sinks && l == 1);
        p.model.layers[l].window = full ? 0 : family.window;
    }
    if (family.gemma) {
        p.model.norms_per_layer = 4;
        p.model.activation = "gelu_pytorch_tanh";
        p.model.query_scalar = 24;
        p.model.rope.local_theta = 100;
    }
    p.model.attention_sinks = p.model.output_bias = family.sinks;
    p.model.rope.theta = 1000;
    p.model.rope.scaling = family.scaling;
    if (family.scaling == "linear") p.model.rope.factor = 8;
    if (family.scaling == "llama3" || family.scaling == "yarn") {
        p.model.rope.factor = 8;
        p.model.rope.original_context = 64;
    }
    p.context = Tokens(context);
    Decisions& d = p.decisions;
    d.chunk = Tokens(chunk);
    d.page = Tokens(page);
    d.staging_slot = Bytes(64 * 1024);
    d.segment = Tokens(std::max<int64_t>(32, page));
    d.weights = d.kv = d.kv_gradients = p.recipe.gradients = p.recipe.states = dtype;
    p.recipe.optimizer = Optimizer::none;
    const int64_t layers = p.model.layer_count();
    d.kv_residency = d.kv_gradient_residency = Residency{layers, 0, 0};
    return p;
}

// Planned for the most pages that any selection can touch: those of weights like these are not known before.
inline Plan sparse(Plan plan, int64_t budget, int64_t block, int64_t sink, int64_t local) {
    const int64_t page = plan.decisions.page.count(), chunk = plan.decisions.chunk.count();
    plan.decisions.attention = {true, budget, block, sink, local};
    RecordedSelection all{"every page", page, chunk, budget, block, 1, plan.chunks(), {0}, {}};
    for (int64_t c = 0; c < plan.chunks(); ++c) {
        for (int64_t p = 0; p < c * chunk / page; ++p) all.pages.push_back(static_cast<uint32_t>(p));
        all.begin.push_back(static_cast<uint32_t>(all.pages.size()));
    }
    plan.selection.recorded = std::make_shared<RecordedSelection>(std::move(all));
    return plan;
}

inline at::Tensor random_weights(const Plan& plan, uint64_t seed = 1) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    const int64_t count = count_parameters(plan.model).total();
    return at::randn({count}, random, at::kDouble).mul_(0.15);
}
// Of LoRA; B is not zero, as it is where training begins: no gradient of A would be.
inline at::Tensor random_adapters(const Plan& plan, uint64_t seed = 3) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    return at::randn({ParameterUnits(plan).adapters}, random, at::kDouble).mul_(0.15);
}
inline at::Tensor random_tokens(const Plan& plan, uint64_t seed = 2) {
    at::Generator random = at::detail::createCPUGenerator(seed);
    return at::randint(plan.model.vocabulary, {plan.recipe.batch * plan.context.count()}, random, at::kLong);
}

// A plan with its program, arena and executor; weights as random_weights().
struct SmallRun {
    explicit SmallRun(Plan p, OptimizerSettings settings = {}, const at::Device& device = at::kCPU)
        : plan(std::move(p)) {
        at::set_num_threads(1);  // tensors this small: threads would only wait for each other
        const Result<void> checked = check_plan(plan, "");
        if (!checked) ADD_FAILURE() << checked.error().text();
        const Result<void> supported = check_supported(plan);
        if (!supported) ADD_FAILURE() << supported.error().text();
        Result<Program> lowered = lower(plan);
        if (!lowered) ADD_FAILURE() << lowered.error().text();
        program = std::move(*lowered);
        const at::Tensor device_arena = aligned(program.arena[0], device, false);
        const at::Tensor host_arena = aligned(program.arena[1], at::kCPU, device.is_cuda());
        if (program.arena[2] > 0) {
            Result<std::unique_ptr<PageFile>> made =
                PageFile::create(testing::TempDir(), Bytes(program.arena[2]), disk_is_aligned(plan));
            if (!made) ADD_FAILURE() << made.error().text();
            disk = std::move(*made);
        }
        executor = std::make_unique<Executor>(plan, program, device_arena, host_arena, settings, disk.get());
        executor->weights().copy_(random_weights(plan));
        if (executor->adapters().defined()) executor->adapters().copy_(random_adapters(plan));
        executor->begin_optimizer();
    }
    // What was never written must not be read: NaN everywhere.
    static at::Tensor aligned(int64_t bytes, const at::Device& device, bool pinned) {
        at::Tensor memory =
            at::full({bytes + PageFile::kAligned}, 0xff, at::TensorOptions().dtype(at::kByte).device(device));
        if (pinned) memory = memory.pin_memory();
        const auto address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory.data_ptr()));
        return memory.narrow(0, ceil_div(address, PageFile::kAligned) * PageFile::kAligned - address, bytes);
    }
    StepResult step() {
        Result<StepResult> r = executor->step(random_tokens(plan));
        if (!r) {
            ADD_FAILURE() << r.error().text();
            return {};
        }
        return std::move(*r);
    }
    Plan plan;
    Program program;
    std::unique_ptr<PageFile> disk;  // outlives the executor
    std::unique_ptr<Executor> executor;
};

// |a - b| / |b| in the 2-norm.
inline double relative_error(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor wide = b.to(at::kDouble);
    return ((a.to(at::kDouble) - wide).norm() / wide.norm()).item<double>();
}

}  // namespace headroom::engine::test
