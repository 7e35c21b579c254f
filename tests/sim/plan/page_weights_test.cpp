#include "plan/page_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace headroom {
namespace {

std::vector<double> drawn(const PageWeights& w, int64_t pages, int64_t draws) {
    std::vector<double> counts(pages, 0);
    Draw draw(5);
    for (int64_t i = 0; i < draws; ++i) ++counts[w.page(draw)];
    return counts;
}

TEST(PageWeights, PowersOfTwoAreThoseOfTheLibrary) {
    for (int64_t e = 0; e > -34 * 1024; e -= 7) {
        const double exact = std::exp2(static_cast<double>(e) / 1024) * 4294967296.0;
        EXPECT_NEAR(static_cast<double>(exp2_fixed(e)), exact, 11) << e;
    }
    EXPECT_EQ(exp2_fixed(0), uint64_t{1} << 32);
    EXPECT_EQ(exp2_fixed(-1024 * 32), 1u);
    EXPECT_EQ(exp2_fixed(-1024 * 33), 0u);
}

// Each octave of age as often as its pages times 2^(-recency octave), and within it all pages alike: five
// standard deviations of a count.
TEST(PageWeights, AgeCountsByThePower) {
    const int64_t chunk = 16, pages = 16 * 31, first = 3, draws = 400'000;
    for (const double recency : {-0.5, 0.75, 2.0}) {
        PageWeights w(0, recency, 1, first, chunk);
        w.set_end(first + pages);
        const std::vector<double> counts = drawn(w, first + pages, draws);
        EXPECT_EQ(counts[0] + counts[1] + counts[2], 0);
        double sum = 0;
        for (int64_t j = 0; j < 5; ++j) sum += std::exp2(static_cast<double>(j) * (1 - recency));
        for (int64_t j = 0; j < 5; ++j) {
            const double share = std::exp2(static_cast<double>(j) * (1 - recency)) / sum;
            const auto from = counts.end() - chunk * ((2 << j) - 1),
                       to = counts.end() - chunk * ((1 << j) - 1);
            double found = 0;
            for (auto it = from; it != to; ++it) found += *it;
            const double expected = share * static_cast<double>(draws);
            EXPECT_NEAR(found, expected, 5 * std::sqrt(expected))
                << "recency " << recency << ", octave " << j;
            const double each = expected / static_cast<double>(chunk << j);
            for (auto it = from; it != to; ++it) EXPECT_NEAR(*it, each, 5.5 * std::sqrt(each));
        }
    }
}

// Zipf: sorted by how often they are drawn, the 2^-k most popular pages take 2^(-k (1 - popularity)) of the
// draws where popularity is well below 1 (what the last level cuts off is 2^(-16 (1 - popularity))).
TEST(PageWeights, PopularPagesFollowZipfsLaw) {
    const int64_t pages = 1 << 14, draws = 4'000'000;
    PageWeights w(0.5, 0, 1, 0, 32);
    w.set_end(pages);
    std::vector<double> counts = drawn(w, pages, draws);
    std::sort(counts.begin(), counts.end(), std::greater<>());
    for (int k = 1; k <= 5; ++k) {
        double top = 0;
        for (int64_t i = 0; i < pages >> k; ++i) top += counts[i];
        EXPECT_NEAR(top / static_cast<double>(draws), std::exp2(-k * 0.5), 0.02) << k;
    }
}

// A page keeps its weight as the past grows, and where it was set in one go or in many.
TEST(PageWeights, DoNotDependOnHowThePastGrew) {
    PageWeights a(0.8, 1, 9, 2, 8), b(0.8, 1, 9, 2, 8);
    for (int64_t end = 10; end <= 800; end += 10) a.set_end(end);
    b.set_end(800);
    Draw x(3), y(3);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(a.page(x), b.page(y));
}

// The ends of what is allowed: every page stays in the past.
TEST(PageWeights, ExtremesStayWithinThePast) {
    for (const double popularity : {0.0, 2.0}) {
        for (const double recency : {-1.0, 0.0, 4.0}) {
            PageWeights w(popularity, recency, 1, 1, 32);
            Draw draw(1);
            for (const int64_t end : {2, 3, 40, 5000, 1 << 20}) {
                w.set_end(end);
                for (int i = 0; i < 100; ++i) {
                    const uint32_t page = w.page(draw);
                    ASSERT_GE(page, 1u);
                    ASSERT_LT(page, end);
                }
            }
        }
    }
}

}  // namespace
}  // namespace headroom
