#include "plan/selection.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "plan/decisions.h"

namespace headroom {
namespace {

std::vector<uint32_t> row(const Selections& s, int64_t chunk) {
    return {s.pages.begin() + s.begin[chunk], s.pages.begin() + s.begin[chunk + 1]};
}

Attention sparse(int64_t budget, int64_t block, int64_t sink = 1, int64_t local = 8) {
    return {.sparse = true, .budget = budget, .block = block, .sink = sink, .local = local};
}

SelectionModel reuse(double block, double chunk, uint64_t seed = 1) {
    SelectionModel m;
    m.block_reuse = block;
    m.chunk_reuse = chunk;
    m.seed = seed;
    return m;
}

TEST(DrawSelections, ShortPastIsSelectedWhole) {
    const Selections s = draw_selections(reuse(0.5, 0.5), sparse(64, 128), 4, 4096, 128);
    EXPECT_EQ(s.count(0), 0);
    EXPECT_EQ(s.count(1), 32);
    EXPECT_EQ(s.count(2), 64);  // exactly the budget: still all of them
    EXPECT_EQ(row(s, 2).front(), 0u);
    EXPECT_EQ(row(s, 2).back(), 63u);
    EXPECT_GE(s.count(3), 64);
    EXPECT_LE(s.count(3), 96);
}

TEST(DrawSelections, OneBlockAChunkSelectsTheBudgetExactly) {
    const Selections s = draw_selections(reuse(0.9, 0.5), sparse(64, 4096), 100, 4096, 128);
    for (int64_t c = 2; c < 100; ++c) EXPECT_EQ(s.count(c), 64) << "chunk " << c;
}

TEST(DrawSelections, FullBlockReuseSelectsTheBudgetExactly) {
    const Selections s = draw_selections(reuse(1, 0), sparse(64, 128), 100, 4096, 128);
    for (int64_t c = 3; c < 100; ++c) EXPECT_EQ(s.count(c), 64) << "chunk " << c;
}

// A page of the free past of M pages is missed by one block with probability 1 - f / M (f picks without
// replacement), and the blocks are independent: M (1 - (1 - f / M)^blocks) distinct pages, plus sink and
// local. The variance is below that of independent pages, M p (1 - p) <= expected; five standard deviations
// of the mean of many chunks bound the error.
TEST(DrawSelections, WithoutReuseTheUnionIsThatOfIndependentDraws) {
    const int64_t chunks = 400, blocks = 32, free_picks = 64 - 9;
    const Selections s = draw_selections(reuse(0, 0), sparse(64, 128), chunks, 4096, 128);
    double expected = 0, found = 0, variance = 0;
    for (int64_t c = 3; c < chunks; ++c) {
        const double m = static_cast<double>(c * 32 - 9);
        const double missed = std::pow(1 - free_picks / m, blocks);
        expected += 9 + m * (1 - missed);
        variance += m * missed * (1 - missed);
        found += static_cast<double>(s.count(c));
    }
    EXPECT_NEAR(found, expected, 5 * std::sqrt(variance));
}

// With block reuse b every later block draws f (1 - b) pages, so no chunk can hold more than
// sink + local + f + (blocks - 1) f (1 - b); far from the start few draws repeat a page of the union.
TEST(DrawSelections, BlockReuseLeavesTheShareOfNewPages) {
    const int64_t fresh = 55 - 50;  // 0.9 * 55 = 49.5 rounds up to 50
    const Selections s = draw_selections(reuse(0.9, 0.5), sparse(64, 128), 1024, 4096, 128);
    for (int64_t c = 1000; c < 1024; ++c) {
        EXPECT_LE(s.count(c), 64 + 31 * fresh);
        EXPECT_GE(s.count(c), 64 + 31 * fresh - 12);  // expected repeats: 155 * 142 / 32000 < 1
    }
}

// One block a chunk: two neighbours share the kept picks, the sink, and what was drawn again by chance.
TEST(DrawSelections, ChunkReuseKeepsTheShareOfThePreviousPicks) {
    const Selections s = draw_selections(reuse(0, 0.4), sparse(64, 4096), 600, 4096, 128);
    for (int64_t c = 500; c < 600; ++c) {
        const auto a = row(s, c - 1), b = row(s, c);
        std::vector<uint32_t> both;
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
        EXPECT_GE(std::ssize(both), 1 + 22);  // sink and 0.4 * 55
        EXPECT_LE(std::ssize(both), 1 + 22 + 4);
    }
}

TEST(DrawSelections, SameSeedSamePagesOtherSeedOtherPages) {
    const auto draw = [](uint64_t seed) {
        return draw_selections(reuse(0.5, 0.5, seed), sparse(64, 128), 64, 4096, 128);
    };
    EXPECT_EQ(draw(7).pages, draw(7).pages);
    EXPECT_NE(draw(7).pages, draw(8).pages);
}

// Pins the pages themselves: a change of the generator or of the order of draws changes every published
// answer.
TEST(DrawSelections, PagesAreTheSameOnEveryMachine) {
    const Selections s = draw_selections(reuse(0.5, 0.5), sparse(8, 512, 1, 2), 8, 512, 128);
    EXPECT_EQ(row(s, 2), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(row(s, 3).size(), 8u);
    uint64_t hash = 14695981039346656037u;
    for (uint32_t page : s.pages) hash = (hash ^ page) * 1099511628211u;
    EXPECT_EQ(hash, 12045644463884819773u);
}

TEST(DrawSelections, WeightedPagesAreTheSameOnEveryMachine) {
    SelectionModel m = reuse(0.5, 0.5);
    m.popularity = 0.7;
    m.recency = 1.3;
    const Selections s = draw_selections(m, sparse(64, 1024), 128, 4096, 128);
    uint64_t hash = 14695981039346656037u;
    for (uint32_t page : s.pages) hash = (hash ^ page) * 1099511628211u;
    EXPECT_EQ(hash, 7360762900366578239u);
}

int64_t touched(const Selections& s) {
    return std::ssize(std::set<uint32_t>(s.pages.begin(), s.pages.end()));
}

// The same number of picks falls on fewer pages where some are popular, and on more of those of late, whose
// gradients wait for fewer chunks.
TEST(DrawSelections, PopularityAndRecencyDecideWhatIsTouched) {
    const auto draw = [](double popularity, double recency) {
        SelectionModel m = reuse(0, 0);
        m.popularity = popularity;
        m.recency = recency;
        return draw_selections(m, sparse(64, 4096), 128, 4096, 128);
    };
    const Selections uniform = draw(0, 0), popular = draw(0.8, 0), recent = draw(0, 1);
    EXPECT_LT(touched(popular), touched(uniform) * 9 / 10);
    const auto mean_age = [](const Selections& s) {
        double sum = 0;
        for (int64_t c = 0; c < 128; ++c)
            for (const uint32_t page : row(s, c)) sum += static_cast<double>(c * 32 - page);
        return sum / static_cast<double>(s.pages.size());
    };
    EXPECT_LT(mean_age(recent), mean_age(uniform) * 2 / 3);
    EXPECT_NEAR(mean_age(popular), mean_age(uniform), mean_age(uniform) / 10);
}

// Runs of pages grow with the share of neighbours: 1 / (1 - share) long, where there is room for them.
TEST(DrawSelections, NeighboursAreDrawnInRuns) {
    for (const double share : {0.0, 0.5, 0.75}) {
        SelectionModel m = reuse(0, 0);
        m.neighbours = share;
        const Selections s = draw_selections(m, sparse(64, 4096, 1, 1), 256, 4096, 128);
        int64_t pages = 0, runs = 0;
        for (int64_t c = 128; c < 256; ++c) {
            const auto drawn = row(s, c);
            for (size_t i = 1; i + 1 < drawn.size(); ++i) {
                ++pages;
                runs += drawn[i] == drawn[i - 1] + 1 ? 0 : 1;
            }
        }
        EXPECT_NEAR(static_cast<double>(runs) / static_cast<double>(pages), 1 - share, 0.04) << share;
    }
}

RC_GTEST_PROP(DrawSelections, RowsAreDistinctPastPagesWithSinkAndLocal, ()) {
    const int64_t page = 8 << *rc::gen::inRange(0, 3);
    const int64_t pages_per_chunk = *rc::gen::inRange<int64_t>(1, 20);
    const int64_t sink = *rc::gen::inRange<int64_t>(0, 5), local = *rc::gen::inRange<int64_t>(0, 5);
    const int64_t budget = sink + local + *rc::gen::inRange<int64_t>(1, 30);
    const int64_t block = page * *rc::gen::inRange<int64_t>(1, pages_per_chunk + 1);
    const int64_t chunks = *rc::gen::inRange<int64_t>(1, 40);
    const auto share = [] { return *rc::gen::inRange(0, 11) / 10.0; };
    SelectionModel model = reuse(share(), share(), *rc::gen::arbitrary<uint64_t>());
    model.popularity = *rc::gen::inRange(0, 5) / 2.0;
    model.recency = *rc::gen::inRange(-1, 5);
    model.neighbours = *rc::gen::inRange(0, 4) * 0.3;
    const Selections s =
        draw_selections(model, sparse(budget, block, sink, local), chunks, page * pages_per_chunk, page);
    RC_ASSERT(std::ssize(s.begin) == chunks + 1);
    for (int64_t c = 0; c < chunks; ++c) {
        const int64_t past = c * pages_per_chunk;
        const auto pages = row(s, c);
        RC_ASSERT(std::is_sorted(pages.begin(), pages.end(), std::less_equal<>()));
        if (!pages.empty()) RC_ASSERT(pages.back() < past);
        RC_ASSERT(s.count(c) >= std::min(past, budget));
        for (int64_t k = 0; k < std::min(sink, past); ++k) RC_ASSERT(pages[k] == k);
        for (int64_t k = 0; k < std::min(local, past); ++k)
            RC_ASSERT(pages[pages.size() - 1 - k] == past - 1 - k);
    }
}

// Pages that a later chunk selected and that lie before `chunk`, for all chunks: what waits when its
// gradients begin.
std::vector<int64_t> waiting(const Selections& s, int64_t pages_per_chunk) {
    const auto chunks = std::ssize(s.begin) - 1;
    std::vector<int64_t> counts(static_cast<size_t>(chunks));
    std::set<uint32_t> touched;
    for (int64_t c = chunks - 1; c >= 0; --c) {
        for (const uint32_t page : row(s, c)) touched.insert(page);
        counts[static_cast<size_t>(c)] =
            std::distance(touched.begin(), touched.lower_bound(static_cast<uint32_t>(c * pages_per_chunk)));
    }
    return counts;
}

// No more pages wait than may, as many where more would; a limit that nothing reaches changes nothing; each
// block still has its pages.
TEST(DrawSelections, NoMorePagesWaitThanMay) {
    for (const int64_t block : {4096, 512}) {
        for (const double popularity : {0.0, 0.8}) {
            SelectionModel m = reuse(0.5, 0.2);
            m.popularity = popularity;
            m.neighbours = 0.4;
            Attention a = sparse(64, block);
            const auto drawn = [&] { return draw_selections(m, a, 64, 4096, 128); };
            const Selections free = drawn();
            const std::vector<int64_t> all = waiting(free, 32);
            const int64_t most = *std::max_element(all.begin(), all.end());
            a.waiting = most;
            EXPECT_EQ(drawn().pages, free.pages);
            a.waiting = most * 7 / 10;
            const Selections limited = drawn();
            const std::vector<int64_t> fewer = waiting(limited, 32);
            EXPECT_EQ(*std::max_element(fewer.begin(), fewer.end()), a.waiting) << block;
            for (int64_t c = 2; c < 64; ++c) EXPECT_GE(limited.count(c), 64) << c;
        }
    }
}

TEST(DrawSelections, RecordedRowsAreUsedAsTheyAre) {
    auto record = std::make_shared<RecordedSelection>();
    record->layers = 2, record->chunks = 3;
    record->begin = {0, 0, 0, 1, 2, 4, 5};
    record->pages = {0, 0, 0, 1, 1};
    SelectionModel m;
    m.recorded = record;
    const Selections even = draw_selections(m, sparse(64, 128), 3, 128, 128, 4);
    EXPECT_EQ(even.pages, (std::vector<uint32_t>{0, 0, 1}));
    const Selections odd = draw_selections(m, sparse(64, 128), 3, 128, 128, 5);
    EXPECT_EQ(odd.pages, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(odd.begin, (std::vector<uint32_t>{0, 0, 1, 2}));
}

TEST(SelectionModel, EqualityComparesTheRecordedPages) {
    auto a = std::make_shared<RecordedSelection>(), b = std::make_shared<RecordedSelection>();
    a->pages = b->pages = {1, 2};
    SelectionModel x, y;
    EXPECT_EQ(x, y);
    x.recorded = a;
    EXPECT_FALSE(x == y);
    y.recorded = b;
    EXPECT_EQ(x, y);
    b->pages = {1, 3};
    EXPECT_FALSE(x == y);
    SelectionModel popular, recent;
    popular.popularity = recent.recency = 0.5;
    EXPECT_FALSE(popular == SelectionModel());
    EXPECT_FALSE(recent == SelectionModel());
}

}  // namespace
}  // namespace headroom
