#include "gui/paint/chunk_times.h"

#include <gtest/gtest.h>

namespace headroom::gui::test {
namespace {

TimelineOp op(int64_t start, uint32_t chunk, uint16_t layer, Pass pass, OpKind kind = OpKind::qkv,
              Stream stream = Stream::compute) {
    TimelineOp o;
    o.start_ns = start;
    o.end_ns = start + 10;
    o.chunk = chunk;
    o.layer = layer;
    o.pass = pass;
    o.kind = kind;
    o.stream = stream;
    return o;
}

// Two chunks, two layers; chunk 1 has no fill pass.
Timeline step() {
    Timeline t;
    t.ops = {op(0, 0, kNoLayer, Pass::fill, OpKind::embed),
             op(10, 0, 0, Pass::fill),
             op(20, 0, 0, Pass::fill),
             op(5, 1, 0, Pass::fill, OpKind::load_pages, Stream::to_device),  // ahead: no work on the chunk
             op(30, 0, 1, Pass::fill),
             op(40, 1, 0, Pass::gradient),
             op(50, 1, 0, Pass::gradient, OpKind::attention_past),
             op(60, 1, 0, Pass::gradient, OpKind::attention_past_backward),
             op(70, 0, 0, Pass::gradient),
             op(80, kNone, kNoLayer, Pass::update, OpKind::update)};
    return t;
}

TEST(ChunkTimes, SpansAreWhatComputeWorksOn) {
    const ChunkTimes times = chunk_times(step(), 2, 2);
    const std::vector<WorkSpan> expected{{0, 0, kNoLayer, Pass::fill}, {10, 0, 0, Pass::fill},
                                         {30, 0, 1, Pass::fill},       {40, 1, 0, Pass::gradient},
                                         {70, 0, 0, Pass::gradient},   {80, kNone, kNoLayer, Pass::update}};
    EXPECT_EQ(times.spans, expected);
    EXPECT_EQ(*times.at(0), expected[0]);
    EXPECT_EQ(*times.at(29), expected[1]);
    EXPECT_EQ(*times.at(30), expected[2]);
    EXPECT_EQ(*times.at(1'000'000), expected[5]);
    EXPECT_EQ(times.at(-1), nullptr);
}

TEST(ChunkTimes, ACellBeginsWithItsFirstOp) {
    const ChunkTimes times = chunk_times(step(), 2, 2);
    EXPECT_EQ(times.begin(Pass::fill, 0, 0), 10);
    EXPECT_EQ(times.begin(Pass::fill, 1, 0), 30);
    EXPECT_EQ(times.begin(Pass::fill, kAllLayers, 0), 0);
    EXPECT_EQ(times.begin(Pass::fill, kAllLayers, 1), ChunkTimes::kNever);
    EXPECT_EQ(times.begin(Pass::gradient, 0, 1), 40);
    EXPECT_EQ(times.begin(Pass::gradient, 1, 1), ChunkTimes::kNever);
    EXPECT_FALSE(times.begun(Pass::gradient, 0, 0, 69));
    EXPECT_TRUE(times.begun(Pass::gradient, 0, 0, 70));
}

TEST(ChunkTimes, TheOpOfACellIsTheFirstThatAttendsThePast) {
    const ChunkTimes times = chunk_times(step(), 2, 2);
    EXPECT_EQ(times.op_of(Pass::gradient, 0, 1), OpId{6});
    EXPECT_EQ(times.op_of(Pass::fill, 0, 0), kNone);
    EXPECT_EQ(times.op_of(Pass::gradient, kAllLayers, 1), kNone);
}

}  // namespace
}  // namespace headroom::gui::test
