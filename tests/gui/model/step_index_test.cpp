#include "gui/model/step_index.h"

#include <gtest/gtest.h>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

TEST(StepIndex, OpsByStreamAndWaitersByOp) {
    const Timeline t = random_timeline(5, 3000);
    const StepIndex index = index_of(t);
    size_t ops = 0;
    for (size_t s = 0; s < kStreams; ++s) {
        ops += index.streams[s].size();
        for (size_t i = 0; i < index.streams[s].size(); ++i) {
            EXPECT_EQ(t.ops[index.streams[s][i]].stream, static_cast<Stream>(s));
            if (i > 0) {
                EXPECT_LT(index.streams[s][i - 1], index.streams[s][i]);
            }
        }
    }
    EXPECT_EQ(ops, t.ops.size());
    std::vector<std::vector<OpId>> waiters(t.ops.size());
    for (OpId op = 0; op < t.ops.size(); ++op) {
        for (const OpId waited : waits_of(t, op)) waiters[waited].push_back(op);
    }
    for (OpId op = 0; op < t.ops.size(); ++op) {
        const std::span<const OpId> of = index.waiters_of(op);
        EXPECT_EQ(std::vector<OpId>(of.begin(), of.end()), waiters[op]);
    }
}

TEST(StepIndex, WhatRunsAndWhatIsNear) {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 100, 200);
    maker.add(Stream::compute, OpKind::down, 200, 300);
    maker.add(Stream::compute, OpKind::norm, 500, 600);
    const Timeline t = maker.take();
    const StepIndex index = index_of(t);
    const std::vector<OpId>& ops = index.of(Stream::compute);
    EXPECT_EQ(running_at(t, ops, 99), kNone);
    EXPECT_EQ(running_at(t, ops, 100), 0U);
    EXPECT_EQ(running_at(t, ops, 200), 1U);
    EXPECT_EQ(running_at(t, ops, 300), kNone);
    EXPECT_EQ(running_at(t, ops, 600), kNone);
    EXPECT_EQ(nearest_op(t, ops, 310, 20), 1U);
    EXPECT_EQ(nearest_op(t, ops, 490, 20), 2U);
    EXPECT_EQ(nearest_op(t, ops, 400, 20), kNone);
    EXPECT_EQ(nearest_op(t, ops, 250, 0), 1U);
    EXPECT_EQ(nearest_op(t, ops, 9000, 100'000), 2U);
    EXPECT_EQ(neighbour(t, index, 1, 1), 2U);
    EXPECT_EQ(neighbour(t, index, 1, -1), 0U);
    EXPECT_EQ(neighbour(t, index, 0, -1), kNone);
    EXPECT_EQ(neighbour(t, index, 2, 1), kNone);
}

}  // namespace
}  // namespace headroom::gui::test
