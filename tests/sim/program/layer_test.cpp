// Scratch that ops of a layer have while they run.
#include "program/layer.h"

#include <algorithm>

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

}  // namespace
}  // namespace headroom::test
