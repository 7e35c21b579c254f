// What a step allocates beside its arenas, by kind of op.
#include <c10/core/Allocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <map>
#include <set>

#include "decoder/reductions.h"
#include "engine/run/small_model.h"
#include "program/names.h"

namespace headroom::engine::test {
namespace {

// Counts what ATen's allocators of one type of device give to this thread.
class Counter final : public c10::MemoryReportingInfoBase {
public:
    explicit Counter(c10::DeviceType type) : type_(type) {}
    void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device device) override {
        if (bytes > 0 && device.type() == type_) ++count;
    }
    bool memoryProfilingEnabled() const override { return true; }
    int64_t count = 0;

private:
    c10::DeviceType type_;
};

using ByKind = std::map<std::string, int64_t>;  // where nothing was allocated: 0

// Of a run's second step: what the first one needed for good (workspaces of libraries) is there.
ByKind second_step(SmallRun& run, const at::Device& device) {
    const at::Tensor tokens = random_tokens(run.plan);
    const Result<StepResult> first = run.executor->step(tokens);
    EXPECT_TRUE(first) << first.error().text();
    const auto counter = std::make_shared<Counter>(device.type());
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, counter);
    ByKind result;
    std::string kind = "before the first op";
    int64_t seen = 0;
    const auto close = [&] {
        result[kind] += counter->count - seen;
        seen = counter->count;
    };
    const Result<StepResult> step = run.executor->step(tokens, [&](OpId op) {
        close();
        kind = name_of(run.program.ops[op].kind);
        return true;
    });
    EXPECT_TRUE(step) << step.error().text();
    close();
    return result;
}

Plan with_optimizer(Plan plan, Optimizer optimizer) {
    plan.recipe.optimizer = optimizer;
    return plan;
}

TEST(Allocations, TheCounterSeesThem) {
    const auto counter = std::make_shared<Counter>(c10::DeviceType::CPU);
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, counter);
    const at::Tensor a = at::empty({3}), b = at::empty({5});
    EXPECT_EQ(counter->count, 2);
}

// The formulas on the CPU are ATen's, temporaries included; what is not listed here has none there either.
TEST(Allocations, ProductsCopiesAndBookkeepingHaveNoneOnTheCpu) {
    const std::set<std::string> formulas{"norm",
                                         "rope",
                                         "attention_own",
                                         "attention_past",
                                         "merge",
                                         "activation",
                                         "norm_backward",
                                         "attention_own_backward",
                                         "attention_past_backward",
                                         "head",
                                         "rope_backward",
                                         "update",
                                         "activation_backward",
                                         "gradient_norm",
                                         "embed_backward"};
    for (const bool offload : {false, true}) {
        Plan plan = small_plan({"llama", false, false, 0, ""}, Dtype::fp64, 100, 32, 8);
        plan.decisions.staging_slot = Bytes(32 * 2 * 32 * 8);
        if (offload) plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = Residency{1, 0, 0};
        SmallRun run(with_optimizer(std::move(plan), Optimizer::sgd));
        for (const auto& [kind, count] : second_step(run, at::kCPU)) {
            if (formulas.contains(kind)) continue;
            EXPECT_EQ(count, 0) << kind << (offload ? ", offload" : "");
        }
    }
}

int64_t requests_on_the_gpu() {
    return c10::cuda::CUDACachingAllocator::getDeviceStats(0)
        .allocation[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
        .allocated;
}

// A bf16 run: kernels and libraries work in planned buffers.
void expect_none(Plan plan, const std::string& what, Dtype gradients = Dtype::fp32) {
    plan.recipe.gradients = plan.recipe.states = gradients;
    plan.decisions.loss_tile = Tokens(16);
    plan.decisions.staging_slot = Bytes(64 * 2 * 32 * 2);
    const at::Device device("cuda:0");
    SmallRun run(with_optimizer(std::move(plan), Optimizer::adamw), {}, device);
    for (const auto& [kind, count] : second_step(run, device)) EXPECT_EQ(count, 0) << kind << ", " << what;
    // The allocator's own account agrees with what was seen op by op.
    const int64_t before = requests_on_the_gpu();
    EXPECT_TRUE(run.executor->step(random_tokens(run.plan)));
    EXPECT_EQ(requests_on_the_gpu() - before, 0) << what;
}

TEST(Allocations, NoneOnAGpu) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    const Plan base = small_plan({"qwen2", true, false, 0, ""}, Dtype::bf16, 300, 64, 16);
    expect_none(base, "dense");
    expect_none(base, "gradients and states in bf16", Dtype::bf16);
    expect_none(small_plan({"gemma3_text", false, true, 0, "linear", true, true}, Dtype::bf16, 300, 64, 16),
                "four norms, embeddings that are scaled", Dtype::bf16);
    expect_none(small_plan({"qwen3", false, true, 0, "", true}, Dtype::bf16, 300, 64, 16),
                "norms of queries and keys");
    Plan checkpoints = base;
    checkpoints.decisions.activations = Activations::checkpoint_device;
    expect_none(checkpoints, "checkpoints");
    Plan offload = base;
    offload.decisions.kv_residency = offload.decisions.kv_gradient_residency = Residency{1, 0, 0};
    offload.decisions.activations = Activations::checkpoint_host;
    offload.decisions.attention_outputs = AttentionOutputs::host;
    offload.decisions.wavefront = 2;
    expect_none(offload, "offload");
    expect_none(sparse(base, 5, 16, 1, 2), "sparse");
    expect_none(sparse(base, 5, 64, 1, 2), "sparse, a selection for each chunk");
    for (Plan packed : {offload, sparse(offload, 5, 64, 1, 2), sparse(base, 5, 16, 1, 2)}) {
        packed.decisions.kv = Dtype::fp8;
        expect_none(packed, "pages in fp8");
    }
    Plan adapters = base;
    adapters.recipe.lora_rank = 8;
    adapters.recipe.lora_targets = {"q", "k", "v", "o", "gate", "up", "down"};
    expect_none(adapters, "adapters");
}

// What the planner reserves is what the sums ask for.
TEST(Allocations, ScratchOfSumsIsPlanned) {
    for (const bool bias : {false, true}) {
        for (const int64_t chunk : {32, 4096}) {
            Plan plan = small_plan({"qwen2", bias, false, 0, ""}, Dtype::bf16, 8192, chunk, 16);
            const Result<Program> program = lower(plan);
            ASSERT_TRUE(program) << program.error().text();
            const auto scratch = std::find_if(program->buffers.begin(), program->buffers.end(),
                                              [](const Buffer& b) { return b.name == "reduction scratch"; });
            ASSERT_NE(scratch, program->buffers.end());
            const int64_t widest = bias ? 64 + 2 * 32 : 64;
            EXPECT_EQ(scratch->bytes, reduction_scratch_bytes(chunk, widest));
        }
    }
}

}  // namespace
}  // namespace headroom::engine::test
