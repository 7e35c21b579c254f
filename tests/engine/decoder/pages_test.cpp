#include "decoder/pages.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "engine/decoder/page_lists.h"
#include "engine/kernels/drawn.h"

namespace headroom::engine::test {
namespace {

TEST(CopyPages, EachToItsPlace) {
    const at::Tensor from = drawn({5, 3, 2, 8}, 1);
    at::Tensor to = at::zeros({6, 3, 2, 8}, at::kBFloat16);
    const int64_t bytes = 3 * 2 * 8 * 2;
    copy_pages(addresses_of(from, {4, 0, 2}, at::kCPU), addresses_of(to, {1, 5, 3}, at::kCPU), bytes);
    EXPECT_TRUE(to[1].equal(from[4]));
    EXPECT_TRUE(to[5].equal(from[0]));
    EXPECT_TRUE(to[3].equal(from[2]));
    for (const int64_t untouched : {0, 2, 4}) EXPECT_EQ(to[untouched].abs().max().item<float>(), 0);
    EXPECT_THROW(copy_pages(addresses_of(from, {0}, at::kCPU), addresses_of(to, {0, 1}, at::kCPU), bytes),
                 c10::Error);
    EXPECT_THROW(copy_pages(addresses_of(from, {0}, at::kCPU), addresses_of(to, {0}, at::kCPU), 24),
                 c10::Error);
}

TEST(ConvertPages, EachToItsPlaceAndType) {
    const at::Tensor from = drawn({5, 3, 2, 8}, 1, at::kFloat);
    at::Tensor to = at::zeros({6, 3, 2, 8}, at::kBFloat16), back = at::zeros({5, 3, 2, 8}, at::kDouble);
    convert_pages(addresses_of(from, {4, 0}, at::kCPU), addresses_of(to, {1, 5}, at::kCPU), 3 * 2 * 8 * 4,
                  at::kFloat, at::kBFloat16);
    EXPECT_TRUE(to[1].equal(from[4].to(at::kBFloat16)));
    EXPECT_TRUE(to[5].equal(from[0].to(at::kBFloat16)));
    EXPECT_EQ(to[0].abs().max().item<float>(), 0);
    convert_pages(addresses_of(to, {5}, at::kCPU), addresses_of(back, {2}, at::kCPU), 3 * 2 * 8 * 2,
                  at::kBFloat16, at::kDouble);
    EXPECT_TRUE(back[2].equal(from[0].to(at::kBFloat16).to(at::kDouble)));
    EXPECT_THROW(convert_pages(addresses_of(to, {5}, at::kCPU), addresses_of(back, {2, 3}, at::kCPU), 96,
                               at::kBFloat16, at::kDouble),
                 c10::Error);
}

// Two pages, the second ragged, to rows that lie apart and have other values beside them.
TEST(AddPageRows, AddsEachPageToItsRows) {
    for (const auto& [page_type, row_type] :
         {std::pair{at::kDouble, at::kDouble}, {at::kFloat, at::kDouble}, {at::kBFloat16, at::kBFloat16}}) {
        const at::Tensor pages = drawn({3, 4, 16}, 1, page_type), before = drawn({12, 40}, 2, row_type);
        at::Tensor rows = before.clone();
        const at::Tensor places = rows.narrow(1, 8, 16);
        const at::Tensor to = addresses_of(places, {5, 0}, at::kCPU);
        add_page_rows({addresses_of(pages, {2, 1}, at::kCPU), to, at::tensor({4, 3}, at::kInt)}, page_type,
                      row_type, 16, 40, 4);
        at::Tensor expected = before.clone();
        expected.narrow(0, 5, 4).narrow(1, 8, 16).add_(pages[2]);
        expected.narrow(0, 0, 3).narrow(1, 8, 16).add_(pages[1].narrow(0, 0, 3));
        EXPECT_TRUE(rows.equal(expected));
    }
}

RC_GTEST_PROP(EmissionsByPage, NamesEveryEmissionOnceUnderItsPage, ()) {
    const int64_t blocks = *rc::gen::inRange(0, 9), pages = *rc::gen::inRange(1, 9);
    const auto values = *rc::gen::container<std::vector<int32_t>>(static_cast<size_t>(blocks * pages),
                                                                  rc::gen::inRange(0, 20));
    const EmissionsByPage by = emissions_by_page(at::tensor(values, at::kInt).view({blocks, pages}));
    std::map<int32_t, std::vector<int32_t>> expected;
    for (size_t i = 0; i < values.size(); ++i) expected[values[i]].push_back(static_cast<int32_t>(i));
    RC_ASSERT(by.pages.size() == expected.size() && by.begin.size() == by.pages.size() + 1);
    RC_ASSERT(by.begin.front() == 0 && by.begin.back() == static_cast<int32_t>(values.size()));
    size_t i = 0;
    for (const auto& [page, emissions] : expected) {
        RC_ASSERT(by.pages[i] == page);
        RC_ASSERT(std::vector<int32_t>(by.entries.begin() + by.begin[i],
                                       by.entries.begin() + by.begin[i + 1]) == emissions);
        ++i;
    }
}

// Three blocks of four pages; page 7 three times, page 2 once.
at::Tensor small_selection() {
    return at::tensor({0, 3, 5, 7, 0, 3, 6, 7, 2, 4, 6, 7}, at::kInt).view({3, 4});
}

TEST(SumPages, AddsUpByPage) {
    const EmissionsByPage by = emissions_by_page(small_selection());
    for (const auto& [emitted_as, kept_as, step] : {std::tuple{at::kDouble, at::kDouble, 1e-15},
                                                    {at::kFloat, at::kFloat, 1e-6},
                                                    {at::kBFloat16, at::kFloat, 1e-6},
                                                    {at::kBFloat16, at::kBFloat16, 1.0 / 256}}) {
        const at::Tensor emissions = drawn({12, 4, 2, 8}, 1, emitted_as),
                         before = drawn({8, 4, 2, 8}, 2, kept_as);
        const at::Tensor pool = before.clone();
        const PageSums sums = sums_for(by, pool);
        sum_pages(emissions, sums, kept_as);
        at::Tensor expected = before.to(at::kDouble);
        for (size_t i = 0; i < by.pages.size(); i += 2) expected[by.pages[i]].zero_();
        expected.index_add_(0, small_selection().flatten(), emissions.to(at::kDouble));
        EXPECT_LT(off(pool, expected), step);
        EXPECT_TRUE(pool[1].equal(before[1]));  // nothing was emitted for it
    }
}

TEST(SumPages, RefusesListsThatDoNotFit) {
    const at::Tensor pool = drawn({8, 4, 2, 8}, 1);
    PageSums sums = sums_for(emissions_by_page(small_selection()), pool);
    sums.begin = sums.begin.narrow(0, 0, 3);
    EXPECT_THROW(sum_pages(drawn({12, 4, 2, 8}, 2), sums, at::kBFloat16), c10::Error);
}

}  // namespace
}  // namespace headroom::engine::test
