#include "fidelity/selection_sample.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace headroom::fidelity {
namespace {

// Drawn by the model itself, one recorded layer.
RecordedSelection drawn(const SelectionModel& model, const Attention& a, int64_t chunks, int64_t chunk,
                        int64_t page) {
    const Selections s = draw_selections(model, a, chunks, chunk, page);
    RecordedSelection r;
    r.source = "drawn";
    r.page = page, r.chunk = chunk, r.budget = a.budget, r.block = a.block, r.layers = 1, r.chunks = chunks;
    r.begin = s.begin;
    r.pages = s.pages;
    return r;
}

TEST(SelectionSample, CountsDistinctAndSharedPages) {
    RecordedSelection r;
    r.layers = 2, r.chunks = 3, r.page = 1, r.chunk = 4;
    // Chunk 1: {0 1}, {2}; chunk 2: {0 1 4}, {3}.
    r.begin = {0, 0, 0, 2, 3, 6, 7};
    r.pages = {0, 1, 2, 0, 1, 4, 3};
    const SelectionSample s = sample_of(r, {});
    EXPECT_EQ(s.distinct, (std::vector<double>{0, 1.5, 2}));
    EXPECT_EQ(s.shared, (std::vector<double>{0, 0, 1}));
    const Result<SelectionSample> again =
        read_selection_sample(parse_json(selection_json(s).dump(), "s").value());
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, s);
}

// From one seed, tried on another: what was drawn with known shares is found again.
TEST(SelectionSample, FitFindsTheSharesThatWereDrawnWith) {
    Attention a;
    a.sparse = true, a.budget = 32, a.block = 1024, a.sink = 1, a.local = 4;
    SelectionModel made;
    made.seed = 99;
    for (const double reuse : {0.0, 0.3, 0.8}) {
        made.chunk_reuse = reuse;
        const SelectionModel found = fit_selection(drawn(made, a, 64, 1024, 64), a);
        EXPECT_NEAR(found.chunk_reuse, reuse, 0.06);
    }
    a.block = 128;
    for (const double reuse : {0.5, 0.9}) {
        made.chunk_reuse = 0.4;
        made.block_reuse = reuse;
        const SelectionModel found = fit_selection(drawn(made, a, 64, 1024, 64), a);
        EXPECT_NEAR(found.block_reuse, reuse, 0.06);
    }
}

TEST(SelectionSample, FitNeedsChunksWithAChoice) {
    Attention a;
    a.sparse = true, a.budget = 64, a.block = 1024;
    const SelectionModel found = fit_selection(drawn({}, a, 3, 1024, 64), a);
    EXPECT_EQ(found.chunk_reuse, SelectionModel().chunk_reuse);
}

}  // namespace
}  // namespace headroom::fidelity
