#include "gui/paint/chunk_traffic.h"

#include <gtest/gtest.h>

namespace headroom::gui::test {
namespace {

// 10 chunks, 2 layers: chunk c loads c pages in each layer of the fill pass, twice as many in the gradient
// pass, where the last row of a chunk writes 3.
Timeline step() {
    Timeline t;
    for (uint32_t c = 0; c < 10; ++c) {
        for (uint16_t l = 0; l < 2; ++l) {
            Traffic row{c, l, Pass::fill};
            row.selected = c + 1;
            row.loaded = c;
            row.hit = 1;
            row.loaded_bytes = c * 100;
            t.traffic.push_back(row);
            row.pass = Pass::gradient;
            row.hit = 0;
            row.gradients_loaded = 2;
            t.traffic.push_back(row);
            row.written_back = 3;
            row.written_bytes = 300;
            t.traffic.push_back(row);
        }
    }
    return t;
}

TEST(TrafficTable, SumsTheRowsOfAChunk) {
    const TrafficTable table = traffic_table(step(), 10, 2);
    ChunkTraffic expected;
    expected.selected = 8, expected.loaded = 7, expected.hit = 1, expected.loaded_bytes = 700;
    EXPECT_EQ(table.of(Pass::fill, 1, 7), expected);
    ChunkTraffic all = expected;
    all.add(expected);
    EXPECT_EQ(table.of(Pass::fill, kAllLayers, 7), all);
    EXPECT_EQ(table.of(Pass::gradient, 0, 7).loaded, 14);
    EXPECT_EQ(table.of(Pass::gradient, 0, 7).gradients_loaded, 4);
    EXPECT_EQ(table.of(Pass::gradient, kAllLayers, 7).written, 6);
}

TEST(TrafficColumns, OneForEachChunkWhereThereIsRoom) {
    const TrafficTable table = traffic_table(step(), 10, 2);
    const TrafficColumns all = traffic_columns(table, Pass::fill, 0, TrafficUnit::pages, 0, 10, 10);
    EXPECT_EQ(all.chunks_each, 1);
    ASSERT_EQ(all.bars.size(), 10U);
    EXPECT_EQ(all.bars[4], (TrafficBar{4, 1, 0, 0}));
    EXPECT_EQ(all.most(), 10);
    const TrafficColumns part = traffic_columns(table, Pass::gradient, 1, TrafficUnit::bytes, 2.5, 4.5, 10);
    EXPECT_EQ(part.first, 2);
    ASSERT_EQ(part.bars.size(), 3U);
    EXPECT_EQ(part.bars[1], (TrafficBar{600, 0, 0, 300}));
}

TEST(TrafficColumns, AreMeansOfAsManyChunksAsNeeded) {
    const TrafficTable table = traffic_table(step(), 10, 2);
    const TrafficColumns fused = traffic_columns(table, Pass::fill, 0, TrafficUnit::pages, 0, 10, 4);
    EXPECT_EQ(fused.chunks_each, 4);
    ASSERT_EQ(fused.bars.size(), 3U);
    EXPECT_EQ(fused.bars[0], (TrafficBar{1.5, 1, 0, 0}));
    EXPECT_EQ(fused.bars[2], (TrafficBar{8.5, 1, 0, 0}));  // of the two that are left
    // The same chunks share a column wherever the window begins.
    const TrafficColumns panned = traffic_columns(table, Pass::fill, 0, TrafficUnit::pages, 3, 10, 3);
    EXPECT_EQ(panned.chunks_each, 4);
    EXPECT_EQ(panned.first, 0);
    EXPECT_EQ(panned.bars[1], fused.bars[1]);
}

TEST(TrafficColumns, RowsOfOtherPassesAndPlacesAreLeftOut) {
    Timeline t = step();
    Traffic odd{99, 0, Pass::fill};
    odd.loaded = 5;
    t.traffic.push_back(odd);
    odd = Traffic{3, 0, Pass::update};
    odd.loaded = 5;
    t.traffic.push_back(odd);
    EXPECT_EQ(traffic_table(t, 10, 2).of(Pass::fill, 0, 3).loaded, 3);
}

}  // namespace
}  // namespace headroom::gui::test
