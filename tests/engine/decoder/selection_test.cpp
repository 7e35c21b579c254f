#include "decoder/selection.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

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

// The votes that are chosen by are where the caller is told, whatever type they were made in.
RC_GTEST_PROP(SelectPages, LeavesTheVotesInItsScratch, ()) {
    const Case c = drawn_case(*rc::gen::element(at::kDouble, at::kFloat, at::kBFloat16));
    const int64_t blocks = (c.q.size(0) + c.choice.block - 1) / c.choice.block, pages = c.means.size(0);
    RC_PRE(c.choice.budget < pages && c.choice.budget > 0);
    const at::Tensor scratch =
        at::empty({select_scratch_bytes(c.q.size(0), c.means.size(1), pages, c.choice.block)}, at::kByte);
    select_pages(c.q, c.means, c.choice, scratch, at::empty({blocks, c.choice.budget}, at::kInt));
    const auto votes = votes_of(c.q, c.means, c.choice.block);
    const float* found = reinterpret_cast<const float*>(scratch.const_data_ptr());
    for (const auto& of_block : votes)
        for (const double v : of_block) RC_ASSERT(std::abs(*found++ - v) <= 6e-5 * v + 1e-6);
}

// A page is left for one with fewer votes only where it had no room; without a limit the choice is that of
// select_pages.
RC_GTEST_PROP(ChooseWithRoom, TakesTheBestThatHaveRoom, ()) {
    const auto number = [](int64_t least, int64_t most) { return *rc::gen::inRange(least, most + 1); };
    const int64_t chunks = number(3, 8), pages_per_chunk = number(2, 6),
                  past = (chunks - 1) * pages_per_chunk;
    PageChoice choice{1, 0, number(0, 1), number(0, 2)};
    choice.budget = choice.sink + choice.local + number(1, 3);
    RC_PRE(choice.budget < past);
    // What two chunks select may wait.
    const int64_t blocks = number(1, 3), limit = (1 + blocks) * choice.budget + number(0, 20);
    // Few different votes: ties.
    const at::Tensor votes = at::randint(0, 9, {blocks, past}, at::kFloat);
    WaitingPages waiting(limit, 1, chunks, pages_per_chunk), free(1 << 20, 1, chunks, pages_per_chunk);
    for (int64_t c = 1; c + 1 < chunks; ++c) {  // the chunks before
        waiting.enter(c, 0);
        if (choice.sink > 0) waiting.select(0);
        for (int64_t i = 0; i < choice.budget; ++i) {
            const int64_t page = number(0, c * pages_per_chunk - 1);
            if (waiting.has_room(page)) waiting.select(page);
        }
    }
    WaitingPages before = waiting;
    for (WaitingPages* w : {&before, &waiting, &free}) w->enter(chunks - 1, 0);
    at::Tensor chosen = at::full({blocks, choice.budget}, -7, at::kInt), best = chosen.clone();
    choose_with_room(votes, choice, waiting, chosen);
    choose_with_room(votes, choice, free, best);
    std::vector<std::vector<double>> wide;
    for (int64_t b = 0; b < blocks; ++b) {
        const float* of = votes.const_data_ptr<float>() + b * past;
        wide.emplace_back(of, of + past);
    }
    expect_selection(best, wide, choice, 0);
    RC_ASSERT(!::testing::Test::HasFailure());
    for (int64_t b = 0; b < blocks; ++b) {
        const int32_t* row = chosen.const_data_ptr<int32_t>() + b * choice.budget;
        const std::set<int32_t> in(row, row + choice.budget);
        RC_ASSERT(static_cast<int64_t>(in.size()) == choice.budget &&
                  std::is_sorted(row, row + choice.budget));
        // In order of votes, ties to the lower page, each page either is in or had no room when its turn
        // came.
        std::vector<int32_t> order;
        for (int32_t p = 0; p < past; ++p) {
            if (p >= choice.sink && p < past - choice.local) {
                order.push_back(p);
            } else {
                RC_ASSERT(in.contains(p));
                before.select(p);
            }
        }
        const auto& v = wide[static_cast<size_t>(b)];
        std::stable_sort(order.begin(), order.end(), [&](int32_t x, int32_t y) {
            return v[static_cast<size_t>(x)] > v[static_cast<size_t>(y)];
        });
        int64_t taken = choice.sink + choice.local;
        for (const int32_t p : order) {
            if (taken == choice.budget) break;
            RC_ASSERT(in.contains(p) == before.has_room(p));
            if (!in.contains(p)) continue;
            before.select(p);
            ++taken;
        }
        RC_ASSERT(taken == choice.budget);
    }
    RC_ASSERT(waiting.most() <= limit);
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
