// The OOMB authors' own policy is one plan among others, and not a cheap one (arXiv 2602.02108;
// docs/strategies.md).
#include "program/check.h"
#include "sim/program/small_plan.h"
#include "simulate/simulate.h"
#include "strategy/strategy.h"

namespace headroom::test {
namespace {

// Qwen2.5-7B at 32Ki in 8 chunks, offloaded but for 2 of 28 layers.
Plan offloaded() {
    Plan p = small_plan();
    p.model = read_model("Qwen2.5-7B", HEADROOM_SOURCE_DIR).value();
    p.hardware = read_hardware("h200-sxm-pcie5", HEADROOM_SOURCE_DIR).value();
    p.budget = {p.hardware.device_memory, p.hardware.host_memory, p.hardware.disk_memory};
    p.context = Tokens(32 * 1024);
    p.recipe.optimizer = Optimizer::none;
    p.recipe.gradients = Dtype::bf16;
    p.decisions.kv_residency.device_layers = p.decisions.kv_gradient_residency.device_layers = 2;
    return p;
}

Plan authors() {
    Plan p = offloaded();
    Decisions& d = p.decisions;
    d.activations = Activations::checkpoint_device;
    d.attention_outputs = AttentionOutputs::recompute;
    d.gradient_pages = GradientPages::all_at_once;
    d.fill_head = d.write_back_clean = d.load_gradients_forward = true;
    d.kv_gradients = Dtype::fp32;
    d.page_copy = PageCopy::loop;
    return p;
}

struct Cost {
    int64_t duration_ns = 0, link_bytes = 0, host_bytes = 0;
};

Cost cost_of(const Plan& plan) {
    const Result<void> allowed = check_plan(plan, "");
    EXPECT_TRUE(allowed) << allowed.error().text();
    const Program p = lower(plan).value();
    const Result<void> ok = check_program(p);
    EXPECT_TRUE(ok) << ok.error().text();
    const Simulation s = simulate(p, plan.hardware).value();
    Cost cost;
    cost.duration_ns = s.duration_ns;
    cost.link_bytes = bytes_of_ops(
        p, [](const Op& op) { return op.stream == Stream::to_device || op.stream == Stream::to_host; });
    cost.host_bytes = s.peaks[static_cast<size_t>(Tier::host)].bytes;
    return cost;
}

TEST(AuthorsPolicy, MovesMoreAndTakesLonger) {
    const Cost theirs = cost_of(authors());
    // The same residency without what a better plan leaves out.
    const Cost ours = cost_of(offloaded());
    EXPECT_GT(theirs.link_bytes, 2 * ours.link_bytes);
    EXPECT_GT(theirs.duration_ns, ours.duration_ns);
    EXPECT_GT(theirs.host_bytes, ours.host_bytes);

    // Keys and values of 7 or 8 chunks are few here: all stay on the device.
    Plan best = offloaded();
    best.decisions.kv_residency.device_layers = best.decisions.kv_gradient_residency.device_layers = 28;
    const Cost resident = cost_of(best);
    EXPECT_EQ(resident.link_bytes, 0);
    EXPECT_GT(theirs.duration_ns, resident.duration_ns);
}

TEST(AuthorsPolicy, EachOfTheirHabitsCosts) {
    const Cost theirs = cost_of(authors());
    const auto without = [&](auto change) {
        Plan p = authors();
        change(p.decisions);
        return cost_of(p);
    };
    EXPECT_LT(without([](Decisions& d) { d.write_back_clean = false; }).link_bytes, theirs.link_bytes);
    EXPECT_LT(without([](Decisions& d) { d.load_gradients_forward = false; }).link_bytes, theirs.link_bytes);
    EXPECT_LT(without([](Decisions& d) { d.kv_gradients = Dtype::bf16; }).link_bytes, theirs.link_bytes);
    EXPECT_LT(without([](Decisions& d) { d.gradient_pages = GradientPages::first_touch; }).host_bytes,
              theirs.host_bytes);
    EXPECT_LT(without([](Decisions& d) { d.fill_head = false; }).duration_ns, theirs.duration_ns);
    EXPECT_LT(without([](Decisions& d) { d.page_copy = PageCopy::batch; }).duration_ns, theirs.duration_ns);
}

}  // namespace
}  // namespace headroom::test
