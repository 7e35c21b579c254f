// Votes by plain loops in fp64, and what every selection must be.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "decoder/selection.h"

namespace headroom::engine::test {

// [blocks][P]. The summed queries are rounded to the type of q, as select_pages says.
inline std::vector<std::vector<double>> votes_of(const at::Tensor& q, const at::Tensor& means,
                                                 int64_t block) {
    const int64_t T = q.size(0), groups = means.size(1), per = q.size(1) / groups, d = q.size(2),
                  pages = means.size(0);
    const at::Tensor wide_q = q.cpu().to(at::kDouble).contiguous(),
                     vectors = means.cpu().to(at::kDouble).contiguous();
    at::Tensor sums = at::zeros({T, groups, d}, at::kDouble);
    const auto a = wide_q.accessor<double, 3>(), m = vectors.accessor<double, 3>();
    auto s = sums.accessor<double, 3>();
    for (int64_t t = 0; t < T; ++t)
        for (int64_t h = 0; h < groups * per; ++h)
            for (int64_t i = 0; i < d; ++i) s[t][h / per][i] += a[t][h][i];
    sums.copy_(sums.to(q.scalar_type()));
    std::vector<std::vector<double>> votes(static_cast<size_t>((T + block - 1) / block),
                                           std::vector<double>(static_cast<size_t>(pages)));
    for (int64_t t = 0; t < T; ++t) {
        for (int64_t g = 0; g < groups; ++g) {
            std::vector<double> score(static_cast<size_t>(pages));
            for (int64_t p = 0; p < pages; ++p) {
                for (int64_t i = 0; i < d; ++i) score[static_cast<size_t>(p)] += s[t][g][i] * m[p][g][i];
                score[static_cast<size_t>(p)] /= std::sqrt(static_cast<double>(d));
            }
            const double most = *std::max_element(score.begin(), score.end());
            double sum = 0;
            for (double& v : score) sum += v = std::exp(v - most);
            for (size_t p = 0; p < score.size(); ++p)
                votes[static_cast<size_t>(t / block)][p] += score[p] / sum;
        }
    }
    return votes;
}

// Ascending, sink and local in, and no page left out that has more votes than one chosen freely. `slack`: of
// the votes, relative to a block's most.
inline void expect_selection(const at::Tensor& selection, const std::vector<std::vector<double>>& votes,
                             const PageChoice& c, double slack) {
    const at::Tensor rows = selection.cpu();
    ASSERT_EQ(rows.size(0), static_cast<int64_t>(votes.size()));
    for (size_t b = 0; b < votes.size(); ++b) {
        const int64_t pages = static_cast<int64_t>(votes[b].size());
        const int32_t* row = rows[static_cast<int64_t>(b)].const_data_ptr<int32_t>();
        const std::vector<int32_t> chosen(row, row + rows.size(1));
        ASSERT_EQ(static_cast<int64_t>(chosen.size()), std::min(c.budget, pages));
        double least = INFINITY, most_left = -INFINITY;
        size_t at = 0;
        for (int64_t p = 0; p < pages; ++p) {
            const bool in = at < chosen.size() && chosen[at] == p;
            if (in) ++at;
            const double v = votes[b][static_cast<size_t>(p)];
            const bool fixed = p < c.sink || p >= pages - c.local;
            ASSERT_TRUE(in || !fixed) << "page " << p << " of block " << b;
            if (in && !fixed) least = std::min(least, v);
            if (!in) most_left = std::max(most_left, v);
        }
        ASSERT_EQ(at, chosen.size()) << "not ascending, twice or out of range in block " << b;
        const double most = *std::max_element(votes[b].begin(), votes[b].end());
        ASSERT_GE(least, most_left - slack * most) << "block " << b;
    }
}

}  // namespace headroom::engine::test
