#include "hardware/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hardware/field_reader.h"
#include "hardware/nnls.h"
#include "hardware/rate.h"

namespace headroom {
namespace {

using Eigen::Index;

using Terms = Eigen::Matrix<double, static_cast<int>(kTerms), 1>;

// In the order of kRateTerms; 0 for a term that is not used.
Terms factors(const Work& w, RateTerms t, int32_t multiprocessors) {
    const std::array<bool, kTerms> used{
        true, t.by_m, t.by_n, t.by_k, t.latency, t.pairs, t.pairs && t.by_n && t.keys, t.keys, t.keys};
    const std::array<double, kTerms> all = rate_factors(w, multiprocessors);
    Terms out;
    for (size_t i = 0; i < kTerms; ++i) out(static_cast<Index>(i)) = used[i] ? all[i] : 0;
    return out;
}

std::string shape_of(const Work& w) {
    if (w.heads == 0) return w.m == 0 ? "any shape" : fmt::format("{} x {} x {}", w.m, w.k, w.n);
    std::string text =
        fmt::format("{} x {}, {} over {} heads of {}", w.m, w.n, w.heads, w.kv_heads, w.head_dim);
    if (w.blocks > 1) text = fmt::format("{} blocks of {}", w.blocks, text);
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

Work work_of(const AttentionRow& r, bool backward) {
    if (r.blocks > 1)
        return block_attention(backward, false, r.queries, r.keys, r.heads, r.kv_heads, r.head_dim, r.blocks);
    return attention(backward, false, r.causal, r.queries, r.keys, r.heads, r.kv_heads, r.head_dim);
}

std::vector<RatePoint> attention_points(const Measured& measured, bool backward, bool causal) {
    std::vector<RatePoint> points;
    for (const AttentionRow& r : measured.attention) {
        const double tflops = backward ? r.backward : r.forward;
        if (r.use == RowUse::record || r.blocks > 1 || r.causal != causal || tflops == 0) continue;
        points.push_back({work_of(r, backward), tflops * 1e12, r.use == RowUse::fit});
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
        if (r.use != RowUse::record && r.blocks == 1 && r.backward > 0 && r.deterministic > 0)
            inverse.push_back(r.deterministic / r.backward);
    }
    if (inverse.empty()) return 1;
    const Eigen::MatrixXd a = Eigen::Map<Eigen::VectorXd>(inverse.data(), static_cast<Index>(inverse.size()));
    return std::clamp(nnls(a, Eigen::VectorXd::Ones(a.rows()))(0), kFactor.low, kFactor.high);
}

}  // namespace

Result<RateResult> fit_rate(const std::string& kind, std::span<const RatePoint> points, int64_t launch_ns,
                            RateTerms terms, int32_t multiprocessors) {
    const double launch = static_cast<double>(launch_ns) * 1e-9;
    std::vector<Terms> rows;
    std::vector<double> right;
    for (const RatePoint& p : points) {
        HEADROOM_CHECK(check_point(p, launch, terms, kind));
        if (!p.fitted) continue;
        // Relative: both sides over the measured time.
        rows.push_back(factors(p.work, terms, multiprocessors) *
                       (p.flops_per_second / static_cast<double>(p.work.flops)));
        right.push_back(1 - launch * p.flops_per_second / static_cast<double>(p.work.flops));
    }
    if (rows.empty())
        return fail("measured " + kind, "no row to fit from", "at least one row with use = \"fit\"");
    Eigen::MatrixXd a(static_cast<Index>(rows.size()), static_cast<Index>(kTerms));
    for (size_t i = 0; i < rows.size(); ++i) a.row(static_cast<Index>(i)) = rows[i].transpose();
    const Eigen::VectorXd x =
        nnls(a, Eigen::Map<Eigen::VectorXd>(right.data(), static_cast<Index>(right.size())));

    RateResult result;
    for (size_t i = 0; i < kTerms; ++i) result.fit.*kRateTerms[i] = x(static_cast<Index>(i));
    for (const RatePoint& p : points) {
        const double flops = static_cast<double>(p.work.flops);
        const double time = launch + factors(p.work, terms, multiprocessors).dot(x);
        result.residuals.push_back(
            {kind, shape_of(p.work), flops, p.flops_per_second, flops / time, p.fitted});
    }
    return result;
}

namespace {

bool has_rows(std::span<const RatePoint> points) {
    return std::any_of(points.begin(), points.end(), [](const RatePoint& p) { return p.fitted; });
}

// How long calls of many query blocks take over what the fit of single ones says, and what a packed byte
// takes.
struct BlockFit {
    double factor = 1, per_byte = 0;
};
BlockFit fit_blocks(const Measured& measured, bool backward, const RateFit& fit, double launch) {
    std::vector<Eigen::Vector2d> rows;
    std::vector<double> right;
    for (const AttentionRow& r : measured.attention) {
        const double tflops = backward ? r.backward : r.forward;
        if (r.blocks == 1 || tflops == 0) continue;
        const Work w = work_of(r, backward);
        const double time = static_cast<double>(w.flops) / (tflops * 1e12);
        const std::array<double, kTerms> f = rate_factors(w, measured.machine.multiprocessors);
        double model = 0;
        for (size_t i = 0; i < kTerms; ++i) model += fit.*kRateTerms[i] * f[i];
        const int64_t tokens = r.queries * r.blocks;
        const double packed =
            backward ? static_cast<double>(packed_bytes(tokens, r.heads, r.head_dim, 2)) : 0;
        rows.emplace_back(model / time, packed / time);
        right.push_back(1 - launch / time);
    }
    if (rows.empty()) return {};
    Eigen::MatrixXd a(static_cast<Index>(rows.size()), 2);
    for (size_t i = 0; i < rows.size(); ++i) a.row(static_cast<Index>(i)) = rows[i].transpose();
    const Eigen::Map<Eigen::VectorXd> b(right.data(), static_cast<Index>(right.size()));
    const Eigen::VectorXd x = nnls(a, b);
    if (x(0) >= kBlockFactor.low) return {std::min(x(0), kBlockFactor.high), x(1)};
    // Rows so scattered that packing alone explains them best: products are not free, so these alone.
    return {std::clamp(nnls(a.leftCols(1), b)(0), kBlockFactor.low, kBlockFactor.high), 0};
}

Result<FittedRates> fit_rates_of(const Measured& measured, int64_t launch_ns, bool complete) try {
    FittedRates out;
    const auto fit = [&](const char* kind, std::span<const RatePoint> points, RateTerms terms,
                         RateFit& into) -> Result<void> {
        if (!complete && !has_rows(points)) return {};
        HEADROOM_TRY(RateResult result,
                     fit_rate(kind, points, launch_ns, terms, measured.machine.multiprocessors));
        into = result.fit;
        for (const RatePoint& p : points)
            if (p.work.causal) into.measured_keys = std::max(into.measured_keys, p.work.n);
        for (Residual& r : result.residuals) out.residuals.push_back(std::move(r));
        return {};
    };
    HEADROOM_CHECK(fit("gemm", gemm_points(measured.gemm), {true, true, true, true}, out.gemm));
    const bool shaped = std::all_of(measured.gemm_accumulate.begin(), measured.gemm_accumulate.end(),
                                    [](const GemmRow& r) { return r.m > 0; });
    HEADROOM_CHECK(fit("gemm_accumulate", accumulate_points(measured.gemm_accumulate),
                       {shaped, shaped, shaped, shaped}, out.gemm_accumulate));
    const RateTerms plain{true, true, false, true, true};
    // A causal triangle has q = kv: one of the two tells all, and kv is what the masked tiles grow with.
    const RateTerms triangle{false, true, false, true, true, true};
    HEADROOM_CHECK(
        fit("attention_forward", attention_points(measured, false, false), plain, out.attention_forward));
    HEADROOM_CHECK(fit("attention_forward_causal", attention_points(measured, false, true), triangle,
                       out.attention_forward_causal));
    HEADROOM_CHECK(
        fit("attention_backward", attention_points(measured, true, false), plain, out.attention_backward));
    HEADROOM_CHECK(fit("attention_backward_causal", attention_points(measured, true, true), triangle,
                       out.attention_backward_causal));
    const double launch = static_cast<double>(launch_ns) * 1e-9;
    out.attention_forward.blocks = fit_blocks(measured, false, out.attention_forward, launch).factor;
    const BlockFit backward = fit_blocks(measured, true, out.attention_backward, launch);
    out.attention_backward.blocks = backward.factor;
    out.packing = backward.per_byte;
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
