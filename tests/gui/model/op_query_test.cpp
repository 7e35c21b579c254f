#include "gui/model/op_query.h"

#include <gtest/gtest.h>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

class OpQueryTest : public testing::Test {
protected:
    OpQueryTest() {
        TimelineMaker maker;
        maker.add(Stream::compute, OpKind::attention_past, 0, 10, {}, 12, 3);
        maker.add(Stream::to_device, OpKind::load_pages, 5, 9, {}, 13, 3);
        maker.add(Stream::compute, OpKind::attention_past_backward, 10, 20, {}, 12, 3);
        maker.add(Stream::compute, OpKind::attention_own, 20, 30, {}, 12, 4);
        maker.add(Stream::to_device, OpKind::load_pages, 25, 40, {}, 14, 5);
        maker.add(Stream::compute, OpKind::update, 50, 60);
        maker.op(4).pass = Pass::gradient;
        maker.op(4).piece = 2;
        timeline = maker.take();
    }
    std::vector<OpId> found(const char* text) {
        const Result<OpQuery> query = parse_query(text);
        EXPECT_TRUE(query) << text;
        return query ? find_ops(timeline, *query).in_time : std::vector<OpId>{kNone};
    }
    Timeline timeline;
};

TEST_F(OpQueryTest, WordsNarrowEachOtherDown) {
    using Ops = std::vector<OpId>;
    EXPECT_EQ(found("kind:attention_past chunk:12 layer:3"), Ops{0});  // a whole name is that kind alone
    EXPECT_EQ(found("attention"), (Ops{0, 2, 3}));
    EXPECT_EQ(found("attention past"), (Ops{0, 2}));
    EXPECT_EQ(found("load_pages"), (Ops{1, 4}));
    EXPECT_EQ(found("LOAD pages"), (Ops{1, 4}));
    EXPECT_EQ(found("chunk:13-14"), (Ops{1, 4}));
    EXPECT_EQ(found("layer:4"), (Ops{3}));
    EXPECT_EQ(found("stream:compute layer:3"), (Ops{0, 2}));
    EXPECT_EQ(found("pass:gradient"), (Ops{4}));
    EXPECT_EQ(found("piece:2"), (Ops{4}));
    EXPECT_EQ(found("kind:backward chunk:99"), Ops{});
}

TEST_F(OpQueryTest, WhatIsNotKnownIsSaid) {
    for (const char* text : {"", "  ", "nonsense", "kind:nonsense", "chunk:many", "chunk:7-3", "chunk:1-2-3",
                             "chunk:", "stream:up", "pass:forward", "colour:red"})
        EXPECT_FALSE(parse_query(text)) << text;
    EXPECT_EQ(parse_query("colour:red").error().found, "'colour:'");
    EXPECT_NE(parse_query("stream:up").error().allowed.find("to_host"), std::string::npos);
}

TEST_F(OpQueryTest, HitsAreSteppedThroughRoundTheEnds) {
    const Hits hits = find_ops(timeline, *parse_query("attention"));
    EXPECT_EQ(hits.of_stream[0], (std::vector<OpId>{0, 2, 3}));
    EXPECT_TRUE(hits.of_stream[1].empty());
    EXPECT_EQ(hits.step(timeline, 0, 0, 1), 2U);
    EXPECT_EQ(hits.step(timeline, 3, 0, 1), 0U);
    EXPECT_EQ(hits.step(timeline, 0, 0, -1), 3U);
    EXPECT_EQ(hits.step(timeline, kNone, 15, 1), 3U);
    EXPECT_EQ(hits.step(timeline, kNone, 15, -1), 2U);
    EXPECT_EQ(hits.step(timeline, kNone, 100, 1), 0U);
    EXPECT_EQ(hits.step(timeline, 4, 0, -1), 3U);  // selected, but no hit: from its start
    EXPECT_EQ(hits.position(timeline, 2), 1U);
    EXPECT_EQ(hits.position(timeline, 1), Hits::npos);
    EXPECT_EQ(Hits{}.step(timeline, 0, 0, 1), kNone);
}

}  // namespace
}  // namespace headroom::gui::test
