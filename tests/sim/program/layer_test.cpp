// Scratch that ops of a layer have while they run.
#include "program/layer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "program/chunk_step.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

// Each call of the library in the forward pass has its workspace, and no longer than it runs.
TEST(Layer, AttentionForwardHasAWorkspace) {
    for (const Activations activations : {Activations::keep, Activations::checkpoint_host}) {
        Plan plan = tiny_plan(4, 32, 20);
        plan.decisions.activations = activations;
        const Program p = chunk_step(plan, {});
        const auto buffer = std::find_if(p.buffers.begin(), p.buffers.end(),
                                         [](const Buffer& b) { return b.name == "attention forward"; });
        ASSERT_NE(buffer, p.buffers.end());
        EXPECT_EQ(buffer->bytes, 4096);
        EXPECT_EQ(buffer->category, Category::workspace);
        std::vector<OpId> calls, users;
        for (OpId op = 0; op < p.size(); ++op) {
            const OpKind kind = p.ops[op].kind;
            if (kind == OpKind::attention_own || kind == OpKind::attention_past) calls.push_back(op);
        }
        for (const Lifetime& l : p.lifetimes) {
            if (l.buffer != static_cast<BufferId>(buffer - p.buffers.begin())) continue;
            EXPECT_EQ(l.first, l.last);
            users.push_back(l.first);
        }
        EXPECT_FALSE(calls.empty());
        EXPECT_EQ(users, calls);
    }
}

struct Tiles {
    int64_t count = 0;
    std::vector<uint16_t> pieces;  // of one kind, in order
    int64_t flops = 0;
};

// Ops of `kind` of layer 1 of chunk `chunk` in the gradient pass.
Tiles tiles_of(const Program& p, OpKind kind, uint32_t chunk) {
    Tiles tiles;
    for (const Op& op : p.ops) {
        if (op.kind != kind || op.layer != 1 || op.chunk != chunk || op.pass != Pass::gradient) continue;
        ++tiles.count;
        tiles.pieces.push_back(op.piece);
        tiles.flops += p.works[op.work].flops;
    }
    return tiles;
}

int64_t bytes_of(const Program& p, const std::string& name) {
    for (const Buffer& b : p.buffers) {
        if (b.name == name) return b.bytes;
    }
    return -1;
}

// Chunks of 32 tokens, the last of 20, in tiles of 12: each tile is an op of its own, and the buffers between
// gate_up and down hold one.
TEST(Layer, TilesOfTheMlpComeOneAfterTheOther) {
    for (const Activations activations : {Activations::keep, Activations::checkpoint_device}) {
        Plan plan = tiny_plan(3, 32, 20);
        plan.decisions.activations = activations;
        const Program all = chunk_step(plan, {});
        plan.decisions.mlp_tile = Tokens(12);
        const Program tiled = chunk_step(plan, {});
        for (const auto& [chunk, pieces] : {std::pair{uint32_t{1}, std::vector<uint16_t>{0, 1, 2}},
                                            {uint32_t{2}, std::vector<uint16_t>{0, 1}}}) {
            // Once forward, and once more for the backward pass.
            std::vector<uint16_t> twice = pieces;
            twice.insert(twice.end(), pieces.begin(), pieces.end());
            const int64_t once = tiles_of(all, OpKind::down, chunk).flops;
            EXPECT_EQ(tiles_of(tiled, OpKind::gate_up, chunk).pieces, twice);
            EXPECT_EQ(tiles_of(tiled, OpKind::gate_up, chunk).flops, 4 * once);
            EXPECT_EQ(tiles_of(tiled, OpKind::down, chunk).pieces, pieces);
            EXPECT_EQ(tiles_of(tiled, OpKind::down, chunk).flops, once);
            EXPECT_EQ(tiles_of(tiled, OpKind::gate_up_backward, chunk).pieces, pieces);
            // Of down and gate_up for each tile; of the projections after and before attention once.
            EXPECT_EQ(tiles_of(tiled, OpKind::weight_gradient, chunk).count,
                      2 * static_cast<int64_t>(pieces.size()) + 2);
            EXPECT_EQ(tiles_of(tiled, OpKind::weight_gradient, chunk).flops,
                      tiles_of(all, OpKind::weight_gradient, chunk).flops);
        }
        EXPECT_EQ(bytes_of(tiled, "gate_up"), 12 * 2 * 96 * 2);
        EXPECT_EQ(bytes_of(tiled, "activation"), 12 * 96 * 2);
        EXPECT_EQ(bytes_of(all, "activation"), 32 * 96 * 2);
    }
}

}  // namespace
}  // namespace headroom::test
