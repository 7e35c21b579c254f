// What the clock does at the power limit ([power] of a hardware file) is fitted to the runs of the fit half
// that are kept under traces/: the same fit, made again, gives the file's constants.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "fidelity/prediction.h"
#include "fidelity/run_summary.h"
#include "fidelity/suite.h"

namespace headroom::fidelity {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = HEADROOM_SOURCE_DIR;

bool is_attention(OpKind kind) {
    return kind == OpKind::attention_own || kind == OpKind::attention_past ||
           kind == OpKind::attention_own_backward || kind == OpKind::attention_past_backward;
}
// GEMMs that are large enough to be told from their launches.
bool is_gemm(OpKind kind) {
    static const std::set<OpKind> kinds{OpKind::qkv,
                                        OpKind::attention_out,
                                        OpKind::gate_up,
                                        OpKind::down,
                                        OpKind::head,
                                        OpKind::gate_up_backward,
                                        OpKind::down_backward,
                                        OpKind::weight_gradient,
                                        OpKind::head_backward,
                                        OpKind::qkv_backward,
                                        OpKind::attention_out_backward};
    return kinds.contains(kind);
}

struct Sums {
    double ns = 0, gemm_flops = 0, attention_flops = 0;
};
Sums sums_of(const Figures& figures) {
    Sums s;
    for (const KindFigures& k : figures.kinds) {
        if (!is_attention(k.kind) && !is_gemm(k.kind)) continue;
        s.ns += static_cast<double>(k.total_ns);
        (is_attention(k.kind) ? s.attention_flops : s.gemm_flops) += k.flops;
    }
    return s;
}

class Power : public ::testing::TestWithParam<const char*> {};

TEST_P(Power, TheFilesConstantsAreThoseOfTheFitHalf) {
    const Hardware shipped = read_hardware(GetParam(), kRoot).value();
    const Suite suite = read_suite(kRoot / "scenarios/fidelity/h200.toml").value();
    std::vector<Eigen::Vector3d> rows;
    std::vector<double> ratios;
    // Of the first set the first runs of each plan: some were run again later.
    std::map<std::string, fs::path> first;
    for (const char* folder : {"h200-2026-11-30-first", "h200-2026-11-30-suite"})
        for (const auto& file : fs::directory_iterator(kRoot / "traces" / folder))
            first.try_emplace(file.path().filename().string(), file.path());
    std::vector<std::pair<std::string, fs::path>> files(first.begin(), first.end());
    for (const char* folder : {"h200-2026-12-01-suite", "h200-unlimited-2026-12-01-third-suite",
                               "h200-unlimited-2026-12-01-fourth-suite", "h200-2026-12-01-fifth-suite"})
        for (const auto& file : fs::directory_iterator(kRoot / "traces" / folder))
            files.emplace_back(file.path().filename().string(), file.path());
    std::sort(files.begin(), files.end());
    for (const auto& [name, file] : files) {
        if (!name.ends_with(".run.json.gz") || name.find('@') != name.npos) continue;
        const RunSummary run = read_run(file).value();
        if (!run.ran() || half_of(run.name) != Half::fit) continue;
        Plan plan = parse_plan(run.plan, run.name).value();
        plan.hardware = shipped;
        plan.hardware.power = {};
        const Prediction p = predict_plan(plan, suite.selection, run.name, "fit").value();
        const Sums predicted = sums_of(p.figures), measured = sums_of(run.figures);
        const double busy =
            static_cast<double>(p.figures.busy_ns[static_cast<size_t>(Stream::compute)]) * 1e-9;
        rows.emplace_back(1, predicted.gemm_flops / busy, predicted.attention_flops / busy);
        ratios.push_back(measured.ns / predicted.ns);
    }
    ASSERT_EQ(rows.size(), 39u);
    Eigen::MatrixXd a(static_cast<Eigen::Index>(rows.size()), 3);
    for (size_t i = 0; i < rows.size(); ++i) a.row(static_cast<Eigen::Index>(i)) = rows[i].transpose();
    a.rightCols(2) *= 1e-15;
    const Eigen::Vector3d x = a.colPivHouseholderQr().solve(
        Eigen::Map<Eigen::VectorXd>(ratios.data(), static_cast<Eigen::Index>(ratios.size())));
    std::printf("base %.5g, per_gemm_pflop_s %.5g, per_attention_pflop_s %.5g, least ratio %.4f\n", x(0),
                x(1), x(2), *std::min_element(ratios.begin(), ratios.end()));
    EXPECT_NEAR(shipped.power.base, x(0), 1e-3);
    EXPECT_NEAR(shipped.power.per_gemm * 1e15, x(1), 1e-3);
    EXPECT_NEAR(shipped.power.per_attention * 1e15, x(2), 1e-3);
    // No run of the half was faster than this, beside the scatter of a percent.
    EXPECT_NEAR(shipped.power.least, *std::min_element(ratios.begin(), ratios.end()) - 0.01, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Files, Power, ::testing::Values("h200-sxm-pcie5", "h200-sxm-pcie5-fast-batch"));

}  // namespace
}  // namespace headroom::fidelity
