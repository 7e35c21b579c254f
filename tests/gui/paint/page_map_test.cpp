#include "gui/paint/page_map.h"

#include <map>
#include <tuple>

#include "program/chunk_step.h"
#include "program/selected.h"
#include "sim/program/small_plan.h"

namespace headroom::gui::test {
namespace {

using headroom::test::draw_chunked_plan;
using headroom::test::tiny_plan;

Timeline traffic_of(const Plan& plan) {
    Timeline t;
    t.traffic = chunk_step(plan, select_pages(plan)).traffic;
    return t;
}

PageMap map_of(const Plan& plan) {
    return make_page_map(plan, traffic_of(plan));
}

int64_t pages_in(std::span<const PageRun> runs) {
    int64_t pages = 0;
    for (const PageRun& run : runs) pages += run.last - run.first;
    return pages;
}

// A column of the map, page 0 first: '.' nothing, '-' resides, 'o' own, 'r' read, 'c' found in the
// cache, 't' first touched.
std::string column(const PageMap& map, Pass pass, int layer, int64_t chunk) {
    std::string text;
    for (int64_t p = 0; p < map.pages; ++p)
        text += ".-orct"[static_cast<size_t>(map.cell(pass, layer, chunk, p).state)];
    return text;
}

// 5 chunks of 4 pages, the last of 3; 3 layers.
TEST(PageMap, DenseReadsAllOfThePast) {
    const PageMap map = map_of(tiny_plan(5, 32, 24));
    EXPECT_EQ(map.chunks, 5);
    EXPECT_EQ(map.pages, 19);
    EXPECT_EQ(map.pages_per_chunk, 4);
    EXPECT_FALSE(map.sparse);
    EXPECT_EQ(column(map, Pass::fill, 0, 0), "oooo...............");
    EXPECT_EQ(column(map, Pass::fill, 0, 2), "rrrrrrrroooo.......");
    // The last chunk has no fill pass, and its own pages are kept for no one.
    EXPECT_EQ(column(map, Pass::fill, 0, 4), "----------------...");
    // The last layer of the fill pass only makes pages.
    EXPECT_EQ(column(map, Pass::fill, 2, 2), "--------oooo.......");
    EXPECT_EQ(column(map, Pass::fill, kAllLayers, 2), column(map, Pass::fill, 0, 2));
    EXPECT_EQ(map.cell(Pass::fill, kAllLayers, 2, 0).layers, 2);
    EXPECT_EQ(map.cell(Pass::gradient, kAllLayers, 2, 0).layers, 3);
    EXPECT_EQ(column(map, Pass::gradient, 0, 4), "tttttttttttttttt...");
    EXPECT_EQ(column(map, Pass::gradient, 0, 2), "rrrrrrrroooo.......");
    EXPECT_EQ(column(map, Pass::gradient, 0, 0), "oooo...............");
    EXPECT_EQ(map.readers(Pass::gradient, 1, 5), (std::vector<int64_t>{2, 3, 4}));
    EXPECT_EQ(map.readers(Pass::fill, 1, 5), (std::vector<int64_t>{2, 3}));
}

TEST(PageMap, AWindowIsHonoured) {
    Plan plan = tiny_plan(5, 32, 32);
    plan.model.layers[1].window = 20;  // the first query of a chunk sees 19 keys before it: 3 pages
    const PageMap map = map_of(plan);
    EXPECT_EQ(column(map, Pass::fill, 1, 2), "-----rrroooo........");
    EXPECT_EQ(column(map, Pass::fill, 0, 2), "rrrrrrrroooo........");
    // Every chunk is the last to read what its window reaches, whose sums it touches first. Of its own pages
    // only those that the next chunk reached have sums.
    EXPECT_EQ(column(map, Pass::gradient, 1, 2), ".....ttt.ooo........");
    EXPECT_EQ(column(map, Pass::gradient, 1, 3), ".........ttt.ooo....");
    EXPECT_EQ(map.cell(Pass::gradient, kAllLayers, 2, 0), (PageCell{CellState::read, PastPlace::device, 2}));
    EXPECT_EQ(map.cell(Pass::gradient, kAllLayers, 2, 5),
              (PageCell{CellState::first_touched, PastPlace::device, 1}));
}

TEST(PageMap, HomesAreThePlansResidency) {
    Plan plan = tiny_plan(5, 32, 32);
    plan.decisions.kv_residency = {1, 1, 2};           // of 3 layers one stays on the device
    plan.decisions.kv_gradient_residency = {3, 0, 0};  // all do
    const PageMap map = map_of(plan);
    const auto homes = [&](Pass pass, int layer) {
        std::string text;
        for (int64_t p = 0; p < map.pages; ++p) text += "dhD"[static_cast<size_t>(map.home(pass, layer, p))];
        return text;
    };
    for (int l = 0; l < 3; ++l) {
        std::string expected;
        for (int64_t p = 0; p < map.pages; ++p)
            expected += "dhD"[static_cast<size_t>(past_place(plan, plan.decisions.kv_residency, l, p * 8))];
        EXPECT_EQ(homes(Pass::fill, l), expected) << l;
    }
    EXPECT_EQ(homes(Pass::fill, 0), "ddddhhhhhhhhDDDDDDDD");
    EXPECT_EQ(homes(Pass::fill, 2), std::string(20, 'd'));
    EXPECT_EQ(homes(Pass::fill, kAllLayers), "ddddhhhhhhhhDDDDDDDD");
    EXPECT_EQ(homes(Pass::gradient, kAllLayers), std::string(20, 'd'));
}

TEST(PageMap, SparseReadsWhatThePlanSelects) {
    Plan plan = tiny_plan(9, 32, 32);
    plan.decisions.attention.sparse = true;
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = Residency{};
    const Selections selected = select_pages(plan).layers.at(0);
    const PageMap map = map_of(plan);
    EXPECT_TRUE(map.sparse);
    for (int64_t c = 0; c < 8; ++c) {
        for (int64_t p = 0; p < map.pages; ++p) {
            const auto begin = selected.pages.begin() + selected.begin[static_cast<size_t>(c)],
                       end = selected.pages.begin() + selected.begin[static_cast<size_t>(c) + 1];
            const bool read = std::find(begin, end, p) != end;
            EXPECT_EQ(map.cell(Pass::fill, 0, c, p).state == CellState::read, read) << c << " " << p;
        }
    }
}

// Blocks of neighbouring chunks select the same pages again and again; a cache that holds all keeps them.
TEST(PageMap, PagesThatAreReadAgainAreFoundInALargeCache) {
    Plan plan = tiny_plan(9, 32, 32);
    plan.decisions.attention.sparse = true;
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = Residency{};
    const PageMap without = map_of(plan);
    EXPECT_FALSE(without.caches(Pass::fill, 0));
    plan.decisions.page_cache = Bytes(64 * kMiB);
    const PageMap map = map_of(plan);
    ASSERT_TRUE(map.caches(Pass::fill, 0));
    ASSERT_TRUE(map.caches(Pass::gradient, kAllLayers));
    int64_t again = 0;
    for (int64_t c = 0; c < map.chunks; ++c) {
        for (int64_t p = 0; p < map.pages; ++p) {
            const CellState state = map.cell(Pass::fill, 0, c, p).state;
            // In the fill pass a chunk's own pages enter the cache, and nothing is ever given up.
            EXPECT_NE(state, CellState::read) << c << " " << p;
            EXPECT_EQ(state == CellState::cached, without.cell(Pass::fill, 0, c, p).state == CellState::read);
            // In the gradient pass it starts empty: the last reader touches a page first, the others find it.
            const CellState then = map.cell(Pass::gradient, 0, c, p).state;
            EXPECT_NE(then, CellState::read) << c << " " << p;
            again += then == CellState::cached ? 1 : 0;
        }
    }
    EXPECT_GT(again, 0);
    EXPECT_EQ(map.cell(Pass::fill, kAllLayers, 3, 0).state, CellState::cached);
}

TEST(PageMap, WithOneChunkNothingIsRead) {
    const PageMap map = map_of(tiny_plan(1, 32, 32));
    EXPECT_EQ(column(map, Pass::fill, 0, 0), "....");
    EXPECT_EQ(column(map, Pass::gradient, kAllLayers, 0), "....");
}

TEST(PageMap, SumsThatExistFromTheStartAreNeverFirstTouched) {
    Plan plan = tiny_plan(3, 32, 32);
    plan.decisions.gradient_pages = GradientPages::all_at_once;
    const PageMap map = map_of(plan);
    EXPECT_EQ(column(map, Pass::gradient, 0, 2), "rrrrrrrroooo");
    EXPECT_EQ(column(map, Pass::gradient, 0, 0), "oooo........");
}

// Whatever the plan: what the map says is read and first touched is what the program counts.
RC_GTEST_PROP(PageMap, CountsAreThoseOfTheProgram, ()) {
    const Plan plan = draw_chunked_plan();
    const Timeline timeline = traffic_of(plan);
    const PageMap map = make_page_map(plan, timeline);
    for (const Traffic& row : timeline.traffic) {
        if (row.selected == 0) continue;
        const LayerReads& layer = map.reads(row.pass, row.layer);
        RC_ASSERT(pages_in(layer.reads.of(row.chunk)) == int64_t{row.selected});
        if (row.first_touched > 0)
            RC_ASSERT(pages_in(layer.touches.of(row.chunk)) == int64_t{row.first_touched});
    }
    // What is found in the cache: of each chunk, layer and pass as many pages, and none that is not read.
    std::map<std::tuple<Pass, int, int64_t>, int64_t> hits;  // each sequence has the same
    for (const Traffic& row : timeline.traffic) {
        int64_t& most = hits[{row.pass, row.layer, row.chunk}];
        most = std::max(most, int64_t{row.hit});
    }
    for (const auto& [at, count] : hits) {
        const auto [pass, layer, chunk] = at;
        if (pass != Pass::fill && pass != Pass::gradient) continue;
        const LayerReads& r = map.reads(pass, layer);
        RC_ASSERT(pages_in(r.cached.of(chunk)) == count);
        for (const PageRun& run : r.cached.of(chunk)) {
            for (uint32_t p = run.first; p < run.last; ++p) {
                RC_ASSERT(r.reads.layers_at(chunk, p) == 1);
                RC_ASSERT(r.touches.layers_at(chunk, p) == 0);
            }
        }
    }
    // All layers together read what each of them reads.
    for (const Pass pass : {Pass::fill, Pass::gradient}) {
        for (int64_t c = 0; c < map.chunks; ++c) {
            int64_t together = 0, each = 0;
            for (const PageRun& run : map.reads(pass, kAllLayers).reads.of(c))
                together += (run.last - run.first) * run.layers;
            for (int l = 0; l < map.layers; ++l) each += pages_in(map.reads(pass, l).reads.of(c));
            RC_ASSERT(together == each);
        }
    }
}

}  // namespace
}  // namespace headroom::gui::test
