#include "decoder/selection.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/decoder/selection_truth.h"
#include "engine/kernels/drawn.h"
#include "kernels/selection.h"

namespace headroom::engine::test {
namespace {

struct Case {
    at::Tensor q, means;
    PageChoice choice;
};

at::Tensor selected(const Case& c) {
    const int64_t blocks = (c.q.size(0) + c.choice.block - 1) / c.choice.block, pages = c.means.size(0);
    at::Tensor selection = at::full({blocks, std::min(c.choice.budget, pages)}, -7, at::kInt);
    const at::Tensor scratch = at::full(
        {select_scratch_bytes(c.q.size(0), c.means.size(1), pages, c.choice.block)}, 0xff, at::kByte);
    select_pages(c.q, c.means, c.choice, scratch, selection);
    return selection;
}

Case drawn_case(at::ScalarType type) {
    const auto number = [](int64_t least, int64_t end) { return *rc::gen::inRange(least, end); };
    const int64_t groups = number(1, 4), T = number(1, 40), d = 2 * number(1, 12), pages = number(1, 40);
    Case c;
    const uint64_t seed = static_cast<uint64_t>(number(1, 1 << 20));
    c.q = drawn({T, groups * number(1, 4), d}, seed, type);
    c.means = drawn({pages, groups, d}, seed + 1, type);
    c.choice.block = number(1, T + 4);
    c.choice.budget = number(1, 44);
    c.choice.sink = number(0, c.choice.budget + 1);
    c.choice.local = number(0, c.choice.budget - c.choice.sink + 1);
    return c;
}

RC_GTEST_PROP(SelectPages, ChoosesTheBestVotes, ()) {
    const Case c = drawn_case(at::kDouble);
    expect_selection(selected(c), votes_of(c.q, c.means, c.choice.block), c.choice, 1e-12);
    RC_ASSERT(!::testing::Test::HasFailure());
}

// fp32: a score, below 20 here, is a sum of up to 24 products: 20 * 24 * 2^-24 = 3e-5 of a vote, either way.
RC_GTEST_PROP(SelectPages, ChoosesTheBestVotesInSinglePrecision, ()) {
    const Case c = drawn_case(*rc::gen::element(at::kFloat, at::kBFloat16));
    expect_selection(selected(c), votes_of(c.q, c.means, c.choice.block), c.choice, 6e-5);
    RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(SelectPages, TiesGoToTheLowerPage) {
    Case c{
        drawn({6, 2, 4}, 1, at::kDouble), drawn({1, 1, 4}, 2, at::kDouble).repeat({9, 1, 1}), {3, 4, 1, 1}};
    const at::Tensor selection = selected(c);
    EXPECT_TRUE(selection.equal(at::tensor({0, 1, 2, 8, 0, 1, 2, 8}, at::kInt).view({2, 4})));
}

TEST(SelectPages, ABlockOfManyQueriesIsScoredInParts) {
    const Case c{drawn({1100, 2, 4}, 1, at::kDouble), drawn({20, 1, 4}, 2, at::kDouble), {1100, 6, 1, 2}};
    expect_selection(selected(c), votes_of(c.q, c.means, c.choice.block), c.choice, 1e-9);
}

TEST(SelectPages, ReadsQueriesThatLieInWiderRows) {
    const at::Tensor rows = drawn({10, 6 * 4}, 1, at::kDouble);
    const Case wide{
        rows.narrow(1, 4, 16).unflatten(1, {4, 4}), drawn({12, 2, 4}, 2, at::kDouble), {4, 5, 1, 2}};
    Case dense = wide;
    dense.q = wide.q.contiguous();
    EXPECT_TRUE(selected(wide).equal(selected(dense)));
}

TEST(SelectPages, RefusesWhatDoesNotFit) {
    const Case c{drawn({4, 2, 4}, 1, at::kFloat), drawn({9, 2, 4}, 2, at::kFloat), {4, 3, 2, 2}};
    EXPECT_THROW(selected(c), c10::Error);  // 2 + 2 pages in a budget of 3
    Case small = c;
    small.choice.local = 1;
    at::Tensor selection = at::empty({1, 3}, at::kInt);
    const int64_t bytes = select_scratch_bytes(4, 2, 9, 4);
    EXPECT_NO_THROW(
        select_pages(small.q, small.means, small.choice, at::empty({bytes}, at::kByte), selection));
    EXPECT_THROW(
        select_pages(small.q, small.means, small.choice, at::empty({bytes - 1}, at::kByte), selection),
        c10::Error);
}

// The bytes that sim/program/past.cpp plans, whatever the shape; every part aligned as its loads need it.
RC_GTEST_PROP(SelectLayout, FitsIntoThePlannedScratch, ()) {
    const auto upTo = [](int64_t most) { return *rc::gen::inRange<int64_t>(1, most + 1); };
    kernels::SelectShape s{};
    s.tokens = upTo(5000);
    s.groups = upTo(9);
    s.heads = s.groups * upTo(8);
    s.dim = 16 * upTo(16);
    s.pages = 1 + upTo(*rc::gen::element<int64_t>(4, 100, 9000));
    s.block = *rc::gen::element<int64_t>(1, 2, 16, 128, 4096, 100000);
    const kernels::SelectLayout r = kernels::select_layout(s);
    RC_ASSERT(r.blocks >= 1 && r.blocks <= s.blocks());
    const int64_t tokens = std::min(s.tokens, r.blocks * s.block);
    RC_ASSERT(r.sums_at % 8 == 0 && r.sums_at >= s.blocks() * s.pages * 4);
    RC_ASSERT(r.end >= r.sums_at + r.page_parts * s.groups * tokens * 8);
    if (r.summed) RC_ASSERT(r.queries_at % 16 == 0 && r.end >= r.queries_at + tokens * s.groups * s.dim * 2);
    if (r.query_parts > 1) RC_ASSERT(r.end >= r.votes_at + r.query_parts * r.blocks * s.pages * 4);
    RC_ASSERT(r.end <= s.scratch_bytes());
}

TEST(SelectLayout, TakesAWholeChunkAtOnceAtLongContexts) {
    for (const int64_t block : {128, 4096}) {
        const kernels::SelectLayout r = kernels::select_layout({4096, 28, 4, 128, 8192, block, 64, 1, 8});
        EXPECT_EQ(r.blocks, 4096 / block);
        EXPECT_TRUE(r.summed);
    }
}

TEST(PageMeans, OfWholeAndRaggedPages) {
    for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16}) {
        const at::Tensor rows = drawn({11, 3 * 2 * 4}, 1, type);
        const at::Tensor k = rows.narrow(1, 8, 8).unflatten(1, {2, 4});  // inside of wider rows
        for (const int64_t page : {4, 11, 16}) {
            at::Tensor out = at::empty({(11 + page - 1) / page, 2, 4}, type);
            page_means(k, page, out);
            for (int64_t p = 0; p < out.size(0); ++p) {
                const int64_t count = std::min(page, 11 - p * page);
                at::Tensor sum = at::zeros({2, 4}, at::kDouble);
                for (int64_t t = 0; t < count; ++t) sum += k[p * page + t].to(at::kDouble);
                const double step = type == at::kDouble ? 1e-15 : type == at::kFloat ? 1e-6 : 1.0 / 256;
                EXPECT_LT(off(out[p], sum / count), step);
            }
        }
    }
}

}  // namespace
}  // namespace headroom::engine::test
