// What norms inside of a layer cost a step: buffers and ops beside those of a model without them.
#include <algorithm>

#include "program/chunk_step.h"
#include "sim/program/small_plan.h"

namespace headroom::test {
namespace {

int64_t count(const Program& p, OpKind kind) {
    return std::count_if(p.ops.begin(), p.ops.end(), [kind](const Op& op) { return op.kind == kind; });
}
int64_t bytes_named(const Program& p, const std::string& name) {
    int64_t bytes = 0;
    for (const Buffer& b : p.buffers) bytes += b.name == name ? b.bytes : 0;
    return bytes;
}
int64_t activation_buffers(const Program& p) {
    int64_t bytes = 0;
    for (const Buffer& b : p.buffers) bytes += b.category == Category::activations ? b.bytes : 0;
    return bytes;
}

// One buffer of rotated queries and keys for all layers, and where qkv was kept one more rotation in the
// backward pass of each layer; else it is made on the way.
TEST(Norms, OfQueriesAndKeysTakeOneBufferInFlight) {
    for (const Activations activations : {Activations::keep, Activations::checkpoint_device}) {
        Plan plan = tiny_plan(4, 32, 20);
        plan.decisions.activations = activations;
        const Program without = chunk_step(plan, {});
        plan.model.qk_norm = true;
        const Program with = chunk_step(plan, {});
        const int64_t rotated = 32 * (64 + 32) * 2;  // tokens x (Q + KV) x bf16
        EXPECT_EQ(bytes_named(with, "rotated q and k"), rotated);
        EXPECT_EQ(activation_buffers(with), activation_buffers(without) + rotated);
        const int64_t again = activations == Activations::keep ? 3 * 4 : 0;  // layers x chunks
        EXPECT_EQ(count(with, OpKind::rope), count(without, OpKind::rope) + again);
        EXPECT_EQ(with.size(), without.size() + static_cast<size_t>(again));
    }
}

// What attention and MLP give before their norms: two more buffers per layer where activations are kept, else
// two in flight and the last product of the MLP once more.
TEST(Norms, FourALayerKeepWhatTheyWereAppliedTo) {
    for (const Activations activations : {Activations::keep, Activations::checkpoint_device}) {
        const bool keep = activations == Activations::keep;
        Plan plan = tiny_plan(4, 32, 20);
        plan.decisions.activations = activations;
        const Program without = chunk_step(plan, {});
        plan.model.norms_per_layer = 4;
        const Program with = chunk_step(plan, {});
        const int64_t hidden = 32 * 64 * 2;
        // Kept: of 3 layers, and in the fill pass one in flight.
        EXPECT_EQ(activation_buffers(with), activation_buffers(without) + 2 * hidden * (keep ? 4 : 1));
        EXPECT_EQ(count(with, OpKind::norm_backward), count(without, OpKind::norm_backward) + 2 * 3 * 4);
        EXPECT_EQ(count(with, OpKind::down), count(without, OpKind::down) + (keep ? 0 : 3 * 4));
        // Fill: all but the last layer of 3 chunks; gradient: all layers of 4, with checkpoints twice the
        // first.
        const int64_t norms = 2 * 2 * 3 + 2 * 3 * 4 + (keep ? 0 : 3 * 4);
        EXPECT_EQ(count(with, OpKind::norm), count(without, OpKind::norm) + norms);
    }
}

}  // namespace
}  // namespace headroom::test
