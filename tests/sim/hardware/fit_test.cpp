#include "hardware/fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

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

// Constants in the file carry five digits.
void expect_same(const RateFit& file, const RateFit& fitted, const char* kind) {
    const auto near = [&](double a, double b) { EXPECT_NEAR(a, b, 6e-5 * b) << kind; };
    near(file.per_flop, fitted.per_flop);
    near(file.by_m, fitted.by_m);
    near(file.by_n, fitted.by_n);
    near(file.by_k, fitted.by_k);
}

TEST(FitH200, TheCommittedConstantsAreThoseOfTheMeasuredRows) {
    const Hardware h = test::shipped("h200-sxm-pcie5");
    const auto rates = fit_rates(test::measured_h200(), h.launch_ns);
    ASSERT_TRUE(rates) << rates.error().text();
    expect_same(h.gemm, rates->gemm, "gemm");
    expect_same(h.gemm_accumulate, rates->gemm_accumulate, "gemm_accumulate");
    expect_same(h.attention_forward, rates->attention_forward, "attention_forward");
    expect_same(h.attention_forward_causal, rates->attention_forward_causal, "attention_forward_causal");
    expect_same(h.attention_backward, rates->attention_backward, "attention_backward");
    expect_same(h.attention_backward_causal, rates->attention_backward_causal, "attention_backward_causal");
    EXPECT_NEAR(h.deterministic_slowdown, rates->deterministic_slowdown, 5e-4);
}

// How far a row may be from the fit. Two held-out rows are shapes that the form of the fit does not see: 448
// tiles on 132 SMs, and half the shortest keys of the fit by a library path that is itself 4 to 6 % slower.
double allowed(const Residual& r) {
    if (r.fitted) return r.kind.starts_with("gemm_accumulate") ? 0.075 : r.kind == "gemm" ? 0.025 : 0.062;
    if (r.kind == "attention_forward" && r.shape.starts_with("2048 x 32768")) return 0.20;
    if (r.shape.starts_with("4096 x 4096")) return 0.15;
    return 0.06;
}

TEST(FitH200, EveryRowIsNearTheFitAndStandsInTheDocumentation) {
    const auto rates = fit_rates(test::measured_h200(), test::shipped("h200-sxm-pcie5").launch_ns);
    ASSERT_TRUE(rates) << rates.error().text();
    const auto document = read_file(test::data() / "docs" / "cost-model.md", kMiB);
    ASSERT_TRUE(document) << document.error().text();
    size_t held_out = 0;
    for (const Residual& r : rates->residuals) {
        // Tenths of a percent as whole numbers: no "-0.0".
        const double percent = static_cast<double>(std::lround(1000 * r.error())) / 10;
        const std::string row =
            fmt::format("| {} | {} | {:.0f} | {:.0f} | {:+.1f} % |{}|\n", r.kind, r.shape, r.measured / 1e12,
                        r.predicted / 1e12, percent, r.fitted ? " " : " held out ");
        fmt::print("{}", row);
        EXPECT_LE(std::abs(r.error()), allowed(r)) << r.kind << ' ' << r.shape;
        EXPECT_NE(document->find(row), std::string::npos) << "docs/cost-model.md lacks " << row;
        held_out += r.fitted ? 0 : 1;
    }
    EXPECT_EQ(held_out, 10);
}

}  // namespace
}  // namespace headroom
