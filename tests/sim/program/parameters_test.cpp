// What weights, gradients and optimizer states move, by their homes, in closed form.
#include "program/parameters.h"

#include "program/check.h"
#include "program/chunk_step.h"
#include "program/layer_step.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

// 4 chunks of 32 tokens, the last of 24.
Plan plan_with(Home weights, Home gradients, Home states) {
    Plan p = tiny_plan(4, 32, 24);
    p.decisions.weights_home = weights;
    p.decisions.gradients_home = gradients;
    p.decisions.states_home = states;
    return p;
}

struct Units {
    int64_t layers = 0, embedding = 160 * 64, head = 160 * 64 + 64, all = 0;  // head: and the final norm
};
Units units_of(const Plan& plan) {
    const ParameterUnits u(plan);
    Units r;
    for (const int64_t l : u.layers) r.layers += l;
    r.all = u.total();
    return r;
}

Program passed(const Plan& plan) {
    Program p = chunk_step(plan, {});
    const Result<void> ok = check_program(p);
    EXPECT_TRUE(ok) << ok.error().text();
    return p;
}

int64_t copied(const Program& p, Stream stream) {
    return bytes_of_ops(p, [stream](const Op& op) { return op.stream == stream; });
}

TEST(Parameters, OnTheDeviceNothingMoves) {
    const Program p = passed(plan_with(Home::device, Home::device, Home::device));
    EXPECT_EQ(count_ops(p, [](const Op& op) { return op.stream != Stream::compute; }), 0);
}

TEST(Parameters, StatesOnTheHostMoveOnceEachWay) {
    const Plan plan = plan_with(Home::device, Home::device, Home::host);
    const Program p = passed(plan);
    EXPECT_EQ(copied(p, Stream::to_device), 8 * units_of(plan).all);
    EXPECT_EQ(copied(p, Stream::to_host), 8 * units_of(plan).all);
}

TEST(Parameters, WeightsOnTheHostComeForEveryUse) {
    const Plan plan = plan_with(Home::host, Home::device, Home::device);
    const Units u = units_of(plan);
    const Program p = passed(plan);
    // Layers: 3 chunks filled, 4 forward and backward. Embedding rows: 96 tokens filled, 120 in the gradient
    // pass.
    const int64_t used = 2 * ((3 + 2 * 4) * u.layers + (96 + 120) * 64 + 4 * u.head);
    EXPECT_EQ(bytes_of_kind(p, OpKind::load_weights), used);
    EXPECT_EQ(copied(p, Stream::to_device), used + 2 * u.all);
    EXPECT_EQ(copied(p, Stream::to_host), 2 * u.all);
}

TEST(Parameters, GradientsOnTheHostAreAddedToAfterTheFirstChunk) {
    const Plan plan = plan_with(Home::device, Home::host, Home::device);
    const Units u = units_of(plan);
    const Program p = passed(plan);
    // All of them once more for their norm. Rows of the embedding are read and written where they are added.
    EXPECT_EQ(bytes_of_kind(p, OpKind::load_gradients), 4 * (3 * (u.layers + u.head) + u.all));
    EXPECT_EQ(bytes_of_kind(p, OpKind::zero), 4 * (u.layers + u.head));
    EXPECT_EQ(bytes_of_kind(p, OpKind::store_gradients), 4 * (4 * (u.layers + u.head) + 2 * 120 * 64));
    EXPECT_EQ(bytes_of_kind(p, OpKind::load_states), 4 * u.all);
}

// The sums that an update reads back must have been stored before, and rows of a slot stored before the next
// are scattered into it.
TEST(Parameters, NothingIsReadBeforeItWasStored) {
    for (const bool layer_major : {false, true}) {
        Plan plan = plan_with(Home::device, Home::host, Home::host);
        plan.decisions.activations = Activations::checkpoint_device;
        const Program p = layer_major ? layer_step(plan) : passed(plan);
        const HappensBefore before(p);
        OpId stored = kNone, rows = kNone;
        int64_t reads = 0, scatters = 0;
        for (OpId id = 0; id < p.size(); ++id) {
            const OpKind kind = p.ops[id].kind;
            if (kind == OpKind::load_states) {
                EXPECT_TRUE(before(stored, id));
                ++reads;
            }
            if (kind == OpKind::embed_backward) {
                if (rows != kNone) {
                    EXPECT_TRUE(before(rows, id)) << scatters;
                }
                ++scatters;
            }
            if (kind != OpKind::store_gradients) continue;
            stored = id;
            if (p.work_of(id).bytes == 2 * plan.chunk_tokens(p.ops[id].chunk) * 64 * 4) rows = id;
        }
        EXPECT_GT(reads, 0);
        EXPECT_EQ(scatters, 4);
        EXPECT_NE(rows, kNone);
    }
}

// Where the head is the embedding, its sums are read back only after the rows of the chunk before were added.
TEST(Parameters, SumsOfATiedHeadWaitForTheEmbeddingsRows) {
    Plan plan = plan_with(Home::device, Home::host, Home::device);
    plan.model.tied_embeddings = true;
    const Program p = passed(plan);
    const HappensBefore before(p);
    OpId rows = kNone;
    int64_t loads = 0;
    for (OpId id = 0; id < p.size(); ++id) {
        const Op& op = p.ops[id];
        const bool of_head = op.piece == static_cast<uint16_t>(ParameterPart::head);
        if (op.kind == OpKind::load_gradients && op.pass == Pass::gradient && of_head) {
            ASSERT_NE(rows, kNone);
            EXPECT_TRUE(before(rows, id));
            ++loads;
        }
        if (op.kind == OpKind::store_gradients &&
            op.piece == static_cast<uint16_t>(ParameterPart::embedding_rows))
            rows = id;
    }
    EXPECT_EQ(loads, 3);
}

TEST(Parameters, PartsOfAnUpdateSlotAreAligned) {
    Plan plan = plan_with(Home::host, Home::host, Home::host);
    const UpdateSlot slot = update_slot(plan, 1001);
    EXPECT_EQ(slot.states, 8 * 1001);
    EXPECT_EQ(slot.gradients_at(), 8192);
    EXPECT_EQ(slot.weights_at(), 8192 + 4096);
    EXPECT_EQ(slot.bytes(), 8192 + 4096 + 2048);
    plan.recipe.lora_rank = 4;
    EXPECT_EQ(update_slot(plan, 1001).weights, 0);  // adapters stay on the device
}

TEST(Parameters, ShardsAreGatheredAndScatteredOverTheRing) {
    Plan plan = plan_with(Home::ranks, Home::ranks, Home::ranks);
    plan.context = plan.decisions.chunk = Tokens(128);
    plan.gpus = plan.decisions.ring_ranks = 4;
    const Units u = units_of(plan);
    const Program p = passed(plan);
    EXPECT_EQ(bytes_of_kind(p, OpKind::all_gather),
              2 * (2 * u.layers + u.embedding + u.head));  // layers twice, embedding, head
    EXPECT_EQ(count_ops(p, [](const Op& op) { return op.kind == OpKind::all_reduce; }), 0);
    for (const Buffer& b : p.buffers) {
        if (b.name == "weights") {
            EXPECT_EQ(b.bytes, ceil_div(2 * u.all, 4));
        }
        if (b.name == "weight gradients") {
            EXPECT_EQ(b.bytes, ceil_div(4 * u.all, 4));
        }
        if (b.name == "optimizer states") {
            EXPECT_EQ(b.bytes, ceil_div(8 * u.all, 4));
        }
    }
}

// Who updates a shard alone sends the new weights to the others, wherever the sums or the states are sharded.
TEST(Parameters, WeightsThatAreWholeAreGatheredAfterAShardedUpdate) {
    for (const auto& [gradients, states] :
         {std::pair{Home::device, Home::ranks}, {Home::ranks, Home::ranks}, {Home::ranks, Home::device}}) {
        Plan plan = plan_with(Home::device, gradients, states);
        plan.context = plan.decisions.chunk = Tokens(128);
        plan.gpus = plan.decisions.ring_ranks = 2;
        EXPECT_EQ(bytes_of_kind(passed(plan), OpKind::all_gather), 2 * units_of(plan).all);
    }
}

// LoRA: the model's own weights travel, adapters never; they are counted on the device.
TEST(Parameters, AdaptersStayOnTheDevice) {
    for (const Home home : {Home::device, Home::host}) {
        Plan plan = plan_with(home, Home::device, Home::host);
        plan.recipe.lora_rank = 4;
        plan.recipe.lora_targets = {"q", "v"};
        const ParameterUnits u(plan);
        ASSERT_GT(u.adapters, 0);
        const Program p = passed(plan);
        EXPECT_EQ(copied(p, Stream::to_host), 8 * u.adapters);  // states alone
        int64_t on_device = 0, on_host = 0;
        for (const Buffer& b : p.buffers) {
            if (b.name == "adapters") on_device += b.bytes;
            if (b.name == "weights" && b.tier == Tier::host) on_host += b.bytes;
        }
        EXPECT_EQ(on_device, 2 * u.adapters);
        EXPECT_EQ(on_host, home == Home::host ? 2 * (u.total() - u.adapters) : 0);
    }
}

TEST(Parameters, LayerMajorBringsEachLayerOncePerDirection) {
    Plan plan = plan_with(Home::host, Home::host, Home::device);
    plan.decisions.activations = Activations::checkpoint_host;
    const Units u = units_of(plan);
    const Program p = layer_step(plan);
    EXPECT_EQ(bytes_of_kind(p, OpKind::load_weights), 2 * (2 * u.layers + 120 * 64 + u.head));
    EXPECT_EQ(bytes_of_kind(p, OpKind::store_gradients), 4 * (u.layers + u.head + 2 * 120 * 64));
    EXPECT_EQ(bytes_of_kind(p, OpKind::load_gradients), 4 * u.all);  // for their norm alone
    const Result<void> ok = check_program(p);
    EXPECT_TRUE(ok) << ok.error().text();
}

}  // namespace
}  // namespace headroom::test
