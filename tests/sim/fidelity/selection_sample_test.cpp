#include "fidelity/selection_sample.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace headroom::fidelity {
namespace {

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

// By hand: one layer, chunks of 2 pages. From the end: chunk 3 touches {0 2 5}, all before it; chunk 2 adds
// {1} and frees 4 and 5; chunk 1 adds nothing and frees 2 and 3.
TEST(SelectionSample, CountsWhatIsTouchedAndWaits) {
    const std::vector<uint32_t> begin = {0, 0, 1, 3, 6}, pages = {0, 0, 1, 0, 2, 5};
    const SelectionSample s = count_pages(begin, pages, 4, 1, 2);
    EXPECT_EQ(s.touched, (std::vector<double>{4, 4, 4, 3}));
    EXPECT_EQ(s.waiting, (std::vector<double>{0, 2, 3, 3}));
}

// Chunks of 4 pages; 3 and 4 are neighbours of two chunks.
TEST(SelectionSample, CountsRunsAsTheyTravel) {
    const std::vector<uint32_t> begin = {0, 0, 2, 7}, pages = {0, 1, 1, 2, 3, 4, 6};
    const SelectionSample s = count_pages(begin, pages, 3, 1, 4);
    EXPECT_EQ(s.runs, (std::vector<double>{0, 1, 3}));
}

TEST(SelectionSample, ReadsWhatWasWrittenBeforeTouchedWasKept) {
    const Result<SelectionSample> s =
        read_selection_sample(parse_json(R"({"distinct_pages": [0, 4], "shared_with_chunk_before": [0, 1],
                       "fitted_block_reuse": 0.9, "fitted_chunk_reuse": 0.25})",
                                         "s")
                                  .value());
    ASSERT_TRUE(s) << s.error().text();
    EXPECT_EQ(*s, (SelectionSample{{0, 4}, {0, 1}, 0.9, 0.25}));
}

TEST(SelectionSample, RefusesListsOfUnequalLength) {
    const Result<SelectionSample> s =
        read_selection_sample(parse_json(R"({"distinct_pages": [0, 4], "shared_with_chunk_before": [0, 1],
                       "touched_from_chunk_on": [4], "waiting_before_chunk": [0, 2],
                       "fitted_block_reuse": 0.9, "fitted_chunk_reuse": 0.25})",
                                         "s")
                                  .value());
    ASSERT_FALSE(s);
    EXPECT_NE(s.error().text().find("touched_from_chunk_on"), std::string::npos) << s.error().text();
}

}  // namespace
}  // namespace headroom::fidelity
