#include "hardware/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hardware/nnls.h"

namespace headroom {
namespace {

using Eigen::Index;

// 1, 1/m, 1/n, 1/k; 0 for a term that is not used.
Eigen::Vector4d factors(const Work& w, RateTerms terms) {
    const auto inverse = [](bool used, int64_t size) { return used ? 1 / static_cast<double>(size) : 0; };
    return {1, inverse(terms.by_m, w.m), inverse(terms.by_n, w.n), inverse(terms.by_k, w.k)};
}

std::string shape_of(const Work& w) {
    if (w.heads == 0) return w.m == 0 ? "any shape" : fmt::format("{} x {} x {}", w.m, w.k, w.n);
    std::string text = fmt::format("{} x {}, {} over {} heads", w.m, w.n, w.heads, w.kv_heads);
    if (w.batch > 1) text = fmt::format("{} blocks of {}", w.batch, text);
    return w.causal ? text + ", causal" : text;
}

Result<void> check_point(const RatePoint& p, double launch, RateTerms terms, const std::string& kind) {
    const std::string where = fmt::format("row '{}' of {}", shape_of(p.work), kind);
    if (!std::isfinite(p.flops_per_second) || p.flops_per_second <= 0)
        return fail(where, fmt::format("a rate of {} FLOP/s", p.flops_per_second), "a positive rate");
    const Work& w = p.work;
    if ((terms.by_m && w.m < 1) || (terms.by_n && w.n < 1) || (terms.by_k && w.k < 1) || w.flops < 1)
        return fail(where, "a shape without a size", "m, n and k of at least 1");
    const double time = static_cast<double>(w.flops) / p.flops_per_second;
    if (time <= launch)
        return fail(where, fmt::format("{:.0f} ns", time * 1e9),
                    fmt::format("more than the launch, {:.0f} ns", launch * 1e9));
    return {};
}

std::vector<RatePoint> attention_points(const Measured& measured, bool backward, bool causal) {
    std::vector<RatePoint> points;
    for (const AttentionRow& r : measured.attention) {
        const double tflops = backward ? r.backward : r.forward;
        if (r.use == RowUse::record || r.causal != causal || tflops == 0) continue;
        points.push_back(
            {attention(backward, false, causal, r.queries, r.keys, r.heads, r.kv_heads, r.head_dim, r.blocks),
             tflops * 1e12, r.use == RowUse::fit});
    }
    return points;
}

std::vector<RatePoint> gemm_points(const std::vector<GemmRow>& rows) {
    std::vector<RatePoint> points;
    for (const GemmRow& r : rows) {
        if (r.use == RowUse::record) continue;
        Work work = gemm(r.m, r.n, r.k);
        // A row without a shape: its rate alone counts, so any size far above the launch serves.
        if (r.m == 0) work.flops = int64_t{1} << 50;
        points.push_back({work, r.tflops * 1e12, r.use == RowUse::fit});
    }
    return points;
}

std::vector<RatePoint> accumulate_points(const std::vector<GemmRow>& rows) {
    std::vector<RatePoint> points = gemm_points(rows);
    for (RatePoint& p : points) p.work.kind = WorkKind::gemm_accumulate;
    return points;
}

// The factor s with s x plain = deterministic, in the same least squares.
double fit_slowdown(const Measured& measured) {
    std::vector<double> inverse;
    for (const AttentionRow& r : measured.attention) {
        if (r.use != RowUse::record && r.backward > 0 && r.deterministic > 0)
            inverse.push_back(r.deterministic / r.backward);
    }
    if (inverse.empty()) return 1;
    const Eigen::MatrixXd a = Eigen::Map<Eigen::VectorXd>(inverse.data(), static_cast<Index>(inverse.size()));
    return std::max(1.0, nnls(a, Eigen::VectorXd::Ones(a.rows()))(0));
}

}  // namespace

Result<RateResult> fit_rate(const std::string& kind, std::span<const RatePoint> points, int64_t launch_ns,
                            RateTerms terms) {
    const double launch = static_cast<double>(launch_ns) * 1e-9;
    std::vector<Eigen::Vector4d> rows;
    std::vector<double> right;
    for (const RatePoint& p : points) {
        HEADROOM_CHECK(check_point(p, launch, terms, kind));
        if (!p.fitted) continue;
        // Relative: both sides over the measured time, so flops / time is the rate.
        rows.push_back(factors(p.work, terms) * p.flops_per_second);
        right.push_back(1 - launch * p.flops_per_second / static_cast<double>(p.work.flops));
    }
    if (rows.empty())
        return fail("measured " + kind, "no row to fit from", "at least one row with use = \"fit\"");
    Eigen::MatrixXd a(static_cast<Index>(rows.size()), 4);
    for (size_t i = 0; i < rows.size(); ++i) a.row(static_cast<Index>(i)) = rows[i].transpose();
    const Eigen::VectorXd x =
        nnls(a, Eigen::Map<Eigen::VectorXd>(right.data(), static_cast<Index>(right.size())));

    RateResult result{{x(0), x(1), x(2), x(3)}, {}};
    for (const RatePoint& p : points) {
        const double flops = static_cast<double>(p.work.flops);
        const double time = launch + flops * factors(p.work, terms).dot(x);
        result.residuals.push_back({kind, shape_of(p.work), p.flops_per_second, flops / time, p.fitted});
    }
    return result;
}

namespace {

bool has_rows(std::span<const RatePoint> points) {
    return std::any_of(points.begin(), points.end(), [](const RatePoint& p) { return p.fitted; });
}

Result<FittedRates> fit_rates_of(const Measured& measured, int64_t launch_ns, bool complete) try {
    FittedRates out;
    const auto fit = [&](const char* kind, std::span<const RatePoint> points, RateTerms terms,
                         RateFit& into) -> Result<void> {
        if (!complete && !has_rows(points)) return {};
        HEADROOM_TRY(RateResult result, fit_rate(kind, points, launch_ns, terms));
        into = result.fit;
        for (Residual& r : result.residuals) out.residuals.push_back(std::move(r));
        return {};
    };
    HEADROOM_CHECK(fit("gemm", gemm_points(measured.gemm), {true, true, true}, out.gemm));
    const bool shaped = std::all_of(measured.gemm_accumulate.begin(), measured.gemm_accumulate.end(),
                                    [](const GemmRow& r) { return r.m > 0; });
    HEADROOM_CHECK(fit("gemm_accumulate", accumulate_points(measured.gemm_accumulate),
                       {shaped, shaped, shaped}, out.gemm_accumulate));
    const RateTerms plain{true, true, false};
    // A causal triangle has q = kv: one of the two tells all, and kv is what the masked tiles grow with.
    const RateTerms triangle{false, true, false};
    HEADROOM_CHECK(
        fit("attention_forward", attention_points(measured, false, false), plain, out.attention_forward));
    HEADROOM_CHECK(fit("attention_forward_causal", attention_points(measured, false, true), triangle,
                       out.attention_forward_causal));
    HEADROOM_CHECK(
        fit("attention_backward", attention_points(measured, true, false), plain, out.attention_backward));
    HEADROOM_CHECK(fit("attention_backward_causal", attention_points(measured, true, true), triangle,
                       out.attention_backward_causal));
    out.deterministic_slowdown = fit_slowdown(measured);
    return out;
} catch (const Overflow& overflow) {
    return fail("measured", overflow.what(), "shapes whose FLOPs fit 63 bits");
}

}  // namespace

Result<FittedRates> fit_rates(const Measured& measured, int64_t launch_ns) {
    return fit_rates_of(measured, launch_ns, true);
}
Result<FittedRates> fit_known_rates(const Measured& measured, int64_t launch_ns) {
    return fit_rates_of(measured, launch_ns, false);
}

}  // namespace headroom
