#include "hardware/fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hardware/calibration.h"
#include "hardware/rate.h"
#include "shipped.h"

namespace headroom {
namespace {

RatePoint gemm_point(int64_t m, int64_t n, int64_t k, const RateFit& truth, double launch) {
    const Work work = gemm(m, n, k);
    const double flops = static_cast<double>(work.flops);
    const double per_flop = truth.per_flop + truth.by_m / static_cast<double>(m) +
                            truth.by_n / static_cast<double>(n) + truth.by_k / static_cast<double>(k);
    return {work, flops / (launch + flops * per_flop)};
}

TEST(Fit, FindsTheConstantsThatMadeTheRows) {
    const RateFit truth{1.3e-15, 2e-13, 7e-13, 0};
    std::vector<RatePoint> points;
    for (const int64_t m : {512, 4096})
        for (const int64_t n : {1024, 30000})
            for (const int64_t k : {768, 9000}) points.push_back(gemm_point(m, n, k, truth, 2e-6));
    const auto result = fit_rate("gemm", points, 2000, {true, true, true});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_NEAR(result->fit.per_flop, truth.per_flop, 1e-9 * truth.per_flop);
    EXPECT_NEAR(result->fit.by_m, truth.by_m, 1e-7 * truth.by_m);
    EXPECT_NEAR(result->fit.by_n, truth.by_n, 1e-7 * truth.by_n);
    EXPECT_LT(result->fit.by_k, 1e-9 * truth.by_n);
    for (const Residual& r : result->residuals) EXPECT_NEAR(r.error(), 0, 1e-9) << r.shape;
}

TEST(Fit, TermsThatAreNotAskedForStayZero) {
    const std::vector<RatePoint> points = {{gemm(64, 64, 64), 1e9}, {gemm(640, 64, 64), 2e9}};
    const auto result = fit_rate("gemm", points, 0, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->fit.by_m + result->fit.by_n + result->fit.by_k, 0);
    EXPECT_GT(result->fit.per_flop, 0);
}

TEST(Fit, RowsToCheckDoNotMoveIt) {
    std::vector<RatePoint> points = {{gemm(64, 64, 64), 1e9}};
    const auto alone = fit_rate("gemm", points, 0, {});
    points.push_back({gemm(128, 64, 64), 5e9, false});
    const auto both = fit_rate("gemm", points, 0, {});
    ASSERT_TRUE(alone && both);
    EXPECT_EQ(alone->fit, both->fit);
    ASSERT_EQ(both->residuals.size(), 2);
    EXPECT_NEAR(both->residuals[1].error(), 1e9 / 5e9 - 1, 1e-9);
}

TEST(Fit, RefusesRowsThatSayNothing) {
    const auto refused = [](std::vector<RatePoint> points, RateTerms terms = {}) {
        const auto result = fit_rate("gemm", points, 1000, terms);
        return result ? std::string("accepted") : result.error().text();
    };
    EXPECT_NE(refused({}).find("no row to fit from"), std::string::npos);
    EXPECT_NE(refused({{gemm(9, 9, 9), 1e3, false}}).find("no row to fit from"), std::string::npos);
    EXPECT_NE(refused({{gemm(9, 9, 9), 0}}).find("positive"), std::string::npos);
    EXPECT_NE(refused({{gemm(9, 9, 9), -1}}).find("positive"), std::string::npos);
    EXPECT_NE(refused({{gemm(0, 9, 9), 1e3}}, {true, false, false}).find("without a size"),
              std::string::npos);
    // 1458 FLOPs at 1 TFLOP/s take 1 ns, less than the launch.
    EXPECT_NE(refused({{gemm(9, 9, 9), 1e12}}).find("more than the launch"), std::string::npos);
}

TEST(Fit, AbsurdShapesAreAnError) {
    Measured measured = test::measured_h200();
    measured.gemm.push_back({1 << 24, 1 << 24, 1 << 24, 100});
    EXPECT_FALSE(fit_rates(measured, 1500));
}

TEST(Fit, AKindWithoutRowsIsAnError) {
    Measured measured = test::measured_h200();
    measured.gemm_accumulate.clear();
    const auto rates = fit_rates(measured, 1500);
    ASSERT_FALSE(rates);
    EXPECT_NE(rates.error().text().find("gemm_accumulate"), std::string::npos) << rates.error().text();
}

TEST(Fit, FindsLatencyWavesAndExponentials) {
    const RateFit truth{.per_flop = 9e-16, .by_m = 2e-14, .by_n = 1e-13, .latency = 5e-6, .per_pair = 4e-13};
    std::vector<RatePoint> points;
    for (const int64_t q : {300, 1024, 4096}) {
        for (const int64_t kv : {512, 4096, 20000}) {
            for (const int32_t dim : {64, 128}) {
                const Work w = attention(false, false, false, q, kv, 12, 4, dim);
                const std::array<double, kTerms> f = rate_factors(w, 132);
                double time = 2e-6;
                for (size_t i = 0; i < kTerms; ++i) time += truth.*kRateTerms[i] * f[i];
                points.push_back({w, static_cast<double>(w.flops) / time});
            }
        }
    }
    const auto result = fit_rate("attention", points, 2000, {true, true, false, true, true}, 132);
    ASSERT_TRUE(result) << result.error().text();
    for (const auto term : kRateTerms) EXPECT_NEAR(result->fit.*term, truth.*term, 1e-6 * truth.*term);
    for (const Residual& r : result->residuals) EXPECT_NEAR(r.error(), 0, 1e-9) << r.shape;
}

// Each file is what a calibration of its own rows writes, to the byte.
TEST(FitH200, TheCommittedConstantsAreThoseOfTheMeasuredRows) {
    for (const char* name : {"h200-sxm-pcie5", "h200-sxm-pcie5-fast-batch"}) {
        const Measured measured = test::measured_rows(name);
        const auto calibration = calibrated(test::shipped(name), measured);
        ASSERT_TRUE(calibration) << calibration.error().text();
        EXPECT_EQ(write_hardware(*calibration, measured), test::text_of(name));
    }
}

struct Row {
    std::string shape;
    double us = 0, error = 0;  // error of the time that is predicted, relative
    bool fitted = true;
};

std::vector<std::pair<std::string, std::vector<Row>>> rows_by_kind(const Calibration& c) {
    std::vector<std::pair<std::string, std::vector<Row>>> kinds;
    const auto of = [&](const std::string& kind) -> std::vector<Row>& {
        for (auto& [name, rows] : kinds)
            if (name == kind) return rows;
        return kinds.emplace_back(kind, std::vector<Row>{}).second;
    };
    for (const Residual& r : c.rates)
        of(r.kind).push_back({r.shape, r.flops / r.measured * 1e6, r.measured / r.predicted - 1, r.fitted});
    for (const TimeResidual& r : c.times)
        of(r.kind).push_back({r.shape, r.measured * 1e6, r.error(), r.fitted});
    return kinds;
}

double rms(const std::vector<Row>& rows, bool fitted) {
    double squares = 0, count = 0;
    for (const Row& r : rows)
        if (r.fitted == fitted) squares += r.error * r.error, ++count;
    return count > 0 ? std::sqrt(squares / count) : 0;
}

// Tenths of a percent as whole numbers: no "-0.0".
double percent(double error) {
    return static_cast<double>(std::lround(1000 * error)) / 10;
}

// The table of rms by kind, and the three rows of each kind that are farthest off.
TEST(FitH200, EveryKindIsNearTheFitAndStandsInTheDocumentation) {
    const auto calibration = calibrated(test::shipped("h200-sxm-pcie5"), test::measured_h200());
    ASSERT_TRUE(calibration) << calibration.error().text();
    const auto document = read_file(test::data() / "docs" / "cost-model.md", kMiB);
    ASSERT_TRUE(document) << document.error().text();
    const auto stands = [&](const std::string& row) {
        fmt::print("{}", row);
        EXPECT_NE(document->find(row), std::string::npos) << "docs/cost-model.md lacks " << row;
    };
    std::string worst;
    for (auto& [kind, rows] : rows_by_kind(*calibration)) {
        const auto held = static_cast<size_t>(
            std::count_if(rows.begin(), rows.end(), [](const Row& r) { return !r.fitted; }));
        if (kind.starts_with("copy")) continue;  // curves go through their points
        const double fit = rms(rows, true), check = rms(rows, false);
        stands(fmt::format("| {} | {} | {:.1f} % | {} | {:.1f} % |\n", kind, rows.size() - held, percent(fit),
                           held, percent(check)));
        const bool memory = kind == "memory";
        EXPECT_LT(fit, memory ? 0.14 : 0.055) << kind;
        EXPECT_LT(check, memory ? 0.18 : 0.06) << kind;
        std::stable_sort(rows.begin(), rows.end(),
                         [](const Row& a, const Row& b) { return std::abs(a.error) > std::abs(b.error); });
        for (size_t i = 0; i < std::min<size_t>(rows.size(), 3); ++i)
            worst += fmt::format("| {} | {} | {:.0f} | {:+.1f} % |{}|\n", kind, rows[i].shape, rows[i].us,
                                 percent(rows[i].error), rows[i].fitted ? " " : " held out ");
    }
    for (size_t from = 0; from < worst.size();) {
        const size_t end = worst.find('\n', from) + 1;
        stands(worst.substr(from, end - from));
        from = end;
    }
}

}  // namespace
}  // namespace headroom
