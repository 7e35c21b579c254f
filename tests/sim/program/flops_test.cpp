// FLOPs of whole programs against the model's closed form.
#include <set>

#include "program/chunk_step.h"
#include "program/layer.h"
#include "program/layer_step.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

const std::set<OpKind> kForward{OpKind::qkv,           OpKind::attention_own, OpKind::attention_past,
                                OpKind::attention_out, OpKind::gate_up,       OpKind::down,
                                OpKind::router,        OpKind::head};
const std::set<OpKind> kAttentionBackward{OpKind::attention_own_backward, OpKind::attention_past_backward};

double forward_of(const Program& p, Pass pass) {
    return flops_of(p, [&](const Op& op) { return op.pass == pass && kForward.count(op.kind) > 0; });
}

// No mixtures: experts share tokens in whole rows, which rounds.
Model draw_dense_model(const Model& tiny, bool windows) {
    Model m = draw_model(tiny);
    for (Layer& l : m.layers) l = {windows ? l.window : 0, false};
    return m;
}

RC_GTEST_PROP(Flops, GradientPassOfKeptActivationsIsOneForward, ()) {
    const int64_t chunk = 8 * draw::in(1, 8);
    Plan p = tiny_plan(draw::in(1, 6), chunk, draw::in(1, chunk));
    p.model = draw_dense_model(p.model, true);
    p.decisions.kv_residency.device_layers = draw::in(0, p.model.layer_count());
    p.decisions.kv_gradient_residency.device_layers = draw::in(0, p.model.layer_count());
    p.decisions.loss_tile = Tokens(0);
    const Program program = chunk_step(p, {});
    const Flops f = forward_flops(p.model, p.context);
    RC_ASSERT(forward_of(program, Pass::gradient) == f.total());

    // Backward: two products for each of the forward's, five for attention's two.
    const double attention =
        flops_of(program, [](const Op& op) { return kAttentionBackward.count(op.kind) > 0; });
    RC_ASSERT(2 * attention == 5 * f.attention);
    const double products = flops_of(program, [](const Op& op) {
        return op.pass == Pass::gradient && kForward.count(op.kind) == 0 &&
               kAttentionBackward.count(op.kind) == 0;
    });
    RC_ASSERT(products == 2 * (f.total() - f.attention));
}

TEST(Flops, CheckpointsAddOneForwardOfWhatTheBackwardPassNeeds) {
    Plan p = tiny_plan(1, 64, 64);
    p.decisions.activations = Activations::checkpoint_device;
    p.decisions.loss_tile = Tokens(0);
    const Flops f = forward_flops(p.model, p.context);
    const double down = 2.0 * 64 * 96 * 64 * 3;  // tokens x I x H x layers
    const auto recomputed = [&](AttentionOutputs outputs) {
        p.decisions.attention_outputs = outputs;
        return forward_of(chunk_step(p, {}), Pass::gradient) - f.total();
    };
    EXPECT_EQ(recomputed(AttentionOutputs::recompute), f.total() - f.head - down);
    EXPECT_EQ(recomputed(AttentionOutputs::chunk), f.total() - f.head - down - f.attention);
}

// The fill pass leaves out the last chunk, the head and, of the last layer, what follows its keys and values.
TEST(Flops, FillPassComputesWhatLaterChunksRead) {
    Plan p = tiny_plan(4, 32, 24);
    const Flops filled = forward_flops(p.model, Tokens(3 * 32));
    Plan one_layer = p;
    one_layer.model.layers.resize(1);
    const Flops last = forward_flops(one_layer.model, Tokens(3 * 32));
    const double qkv = 2.0 * 96 * 64 * (64 + 2 * 32);
    EXPECT_EQ(forward_of(chunk_step(p, {}), Pass::fill),
              filled.total() - filled.head - (last.total() - last.head) + qkv);

    p.decisions.fill_head = true;
    p.decisions.loss_tile = Tokens(0);
    EXPECT_EQ(forward_of(chunk_step(p, {}), Pass::fill), forward_flops(p.model, p.context).total());
}

TEST(Flops, LayerMajorComputesEveryLayerTwiceAndKeysOnceMore) {
    Plan p = tiny_plan(4, 32, 24);
    p.decisions.activations = Activations::checkpoint_device;
    p.decisions.loss_tile = Tokens(0);
    const Program program = layer_step(p);
    const Flops f = forward_flops(p.model, p.context);
    const double tokens = 3 * 32 + 24, down = 2 * tokens * 96 * 64 * 3, keys = 2.0 * 96 * 64 * 64 * 3;
    EXPECT_EQ(forward_of(program, Pass::fill), f.total() - f.head);
    EXPECT_EQ(forward_of(program, Pass::gradient), f.total() - down + keys);
}

TEST(Flops, TensorParallelRanksShareTheWork) {
    Plan p = tiny_plan(3, 32, 32);
    p.gpus = p.decisions.tensor_ranks = 2;
    p.decisions.loss_tile = Tokens(0);
    EXPECT_EQ(2 * forward_of(chunk_step(p, {}), Pass::gradient), forward_flops(p.model, p.context).total());
}

TEST(Flops, OnlyAdaptersHaveWeightGradientsUnderLora) {
    Plan p = tiny_plan(1, 64, 64);
    p.recipe.lora_rank = 4;
    p.recipe.lora_targets = {"q"};
    const Program program = chunk_step(p, {});
    EXPECT_EQ(count_ops(program, [](const Op& op) { return op.kind == OpKind::weight_gradient; }), 0);
    // x A^T and B, of in + out = 64 + 64, for 64 tokens and 3 layers; backward x A^T once more, and the
    // gradients of both factors of both products.
    const double forward = 2.0 * 64 * 4 * 128 * 3;
    EXPECT_EQ(flops_of(program, [](const Op& op) { return op.kind == OpKind::lora; }), forward);
    EXPECT_EQ(flops_of(program, [](const Op& op) { return op.kind == OpKind::lora_backward; }),
              2.5 * forward);
}

}  // namespace
}  // namespace headroom::test
