// Step times of the OOMB authors' code, predicted with the rates of their kernels instead of the library
// kernels of the H200's file. Two rates are unknown: seconds per FLOP of every GEMM, and of every attention
// kernel. They are fitted on two runs of their code without offload (8K and 64K, device_runs of
// tests/ground_truth/training.json), two equations for two unknowns; the published figures at 256K are not
// read by the fit.
#include "published.h"

#include <fmt/format.h>

#include <cmath>

#include "search/answer.h"

namespace headroom::test {
namespace {

struct Rates {
    double gemm = 0, attention = 0;  // seconds per FLOP
};

// Step time in seconds.
double predicted(const std::string& name, const Rates& rates, const std::vector<std::string>& overrides = {},
                 bool copies_disturb = true) {
    auto scenario =
        read_scenario(source_folder() / "scenarios" / (name + ".toml"), source_folder(), overrides);
    if (!scenario) {
        ADD_FAILURE() << scenario.error().text();
        return 0;
    }
    Hardware& h = scenario->plan.hardware;
    h.gemm = h.gemm_accumulate = {rates.gemm};
    h.attention_forward = h.attention_forward_causal = h.attention_backward =
        h.attention_backward_causal = {rates.attention};
    h.multiprocessors = 0;  // one rate each: nothing is known of their tiles
    if (!copies_disturb) {
        for (auto& beside : h.interference) beside.fill(1);
    }
    AnswerOptions options;
    options.gains = options.remedies = false;
    const Result<Answer> a = answer(*scenario, options);
    if (!a) {
        ADD_FAILURE() << a.error().text();
        return 0;
    }
    return static_cast<double>(a->evaluation.step_ns) * 1e-9;
}

double run_8k(const Rates& r) {
    return predicted("qwen2.5-7b-8k-oomb-dense-h200", r);
}
double run_64k(const Rates& r) {
    return predicted("qwen2.5-7b-256k-oomb-dense-h200", r, {"context=64Ki"});
}

// Nothing travels in these runs, so a step's time is linear in both rates, as long as each kernel is slower
// than memory: Newton's step from a guess is exact. A second one shows it.
Rates fitted() {
    static const Rates result = [] {
        const double t8 = published("their-code-dense-8k", "device_runs")["step_s"];
        const double t64 = published("their-code-dense-64k", "device_runs")["step_s"];
        Rates r{1 / 200e12, 1 / 60e12};
        for (int i = 0; i < 2; ++i) {
            constexpr double kStep = 1e-16;
            const double a = run_8k(r), b = run_64k(r);
            const double a_g = (run_8k({r.gemm + kStep, r.attention}) - a) / kStep,
                         a_a = (run_8k({r.gemm, r.attention + kStep}) - a) / kStep,
                         b_g = (run_64k({r.gemm + kStep, r.attention}) - b) / kStep,
                         b_a = (run_64k({r.gemm, r.attention + kStep}) - b) / kStep;
            const double determinant = a_g * b_a - a_a * b_g;
            r.gemm += ((t8 - a) * b_a - (t64 - b) * a_a) / determinant;
            r.attention += ((t64 - b) * a_g - (t8 - a) * b_g) / determinant;
        }
        fmt::print("fitted: GEMMs {:.0f} TFLOP/s, attention {:.1f} TFLOP/s\n", 1e-12 / r.gemm,
                   1e-12 / r.attention);
        return r;
    }();
    return result;
}

double say(const char* what, double prediction, double truth) {
    fmt::print("{:<30} predicted {:7.1f} s   truth {:7.1f} s   error {:+6.1f} %\n", what, prediction, truth,
               100 * (prediction / truth - 1));
    return prediction / truth - 1;
}

TEST(AuthorsKernels, TheFitMeetsItsTwoRuns) {
    const double t8 = published("their-code-dense-8k", "device_runs")["step_s"],
                 t64 = published("their-code-dense-64k", "device_runs")["step_s"];
    EXPECT_NEAR(say("their code, dense 8K (fit)", run_8k(fitted()), t8), 0, 1e-3);
    EXPECT_NEAR(say("their code, dense 64K (fit)", run_64k(fitted()), t64), 0, 1e-3);
}

// Both figures of 256K without a look at them. Predicted: a tie (offload 0.1 % slower than none: transfers
// hide). Published: offload 3 % FASTER. Their claim of less than 5 % for offload is met; the order of the two
// is not, and nothing here explains it.
TEST(AuthorsKernels, Dense256k) {
    const double stays = predicted("qwen2.5-7b-256k-oomb-dense-h200", fitted());
    const double travels = predicted("qwen2.5-7b-256k-oomb-dense-offload-h200", fitted());
    const double undisturbed =
        predicted("qwen2.5-7b-256k-oomb-dense-offload-h200", fitted(), {}, /*copies_disturb=*/false);
    EXPECT_NEAR(say("256K dense, on the device", stays, published("oomb-dense-256k")["step_s"]), 0, 0.05);
    // +7.1 %: the 3 % of the pair's order on top.
    EXPECT_NEAR(say("256K dense, offloaded", travels, published("oomb-dense-offload-256k")["step_s"]), 0,
                0.08);
    fmt::print("offload over none: predicted {:.3f} ({:.3f} if copies slowed nothing), published {:.3f}\n",
               travels / stays, undisturbed / stays,
               published("oomb-dense-offload-256k")["step_s"].get<double>() /
                   published("oomb-dense-256k")["step_s"].get<double>());
    EXPECT_LT(travels / stays, 1.01) << "their claim: offload costs less than 5 %";
    EXPECT_GE(undisturbed, stays) << "no transfer makes a step faster";
}

// One forward pass of three left out.
TEST(AuthorsKernels, Dense256kWithoutLayerCheckpoints) {
    const double kept =
        predicted("qwen2.5-7b-256k-oomb-dense-offload-h200", fitted(), {"plan.activations=keep"});
    EXPECT_NEAR(say("256K dense, offloaded, kept", kept, published("oomb-dense-offload-256k-kept")["step_s"]),
                0, 0.05);
}

// The rates are of the dense kernels; scores, votes and the choice of pages, and attention by blocks of 128
// queries, run kernels of their own that no dense run shows. So these are lower bounds, and come out too
// short.
TEST(AuthorsKernels, SparseIsLongerThanTheDenseRatesSay) {
    const double errors[] = {
        say("their code, sparse 64K", predicted("qwen2.5-7b-64k-oomb-sparse-h200", fitted()),
            published("their-code-sparse-64k", "device_runs")["step_s"]),
        say("their code, sparse 128K",
            predicted("qwen2.5-7b-256k-oomb-sparse-h200", fitted(), {"context=128Ki"}),
            published("their-code-sparse-128k", "device_runs")["step_s"]),
        say("256K sparse, offloaded", predicted("qwen2.5-7b-256k-oomb-sparse-offload-h200", fitted()),
            published("oomb-sparse-offload-256k")["step_s"])};
    for (const double error : errors) {
        EXPECT_LT(error, 0);
        EXPECT_GT(error, -0.37);
    }
}

}  // namespace
}  // namespace headroom::test
