// Recorded runs of the engine on a real GPU (traces/), predicted again from the plan inside with the hardware
// as it is shipped now: a change of the cost model, its constants or the lowering that makes a prediction
// worse fails here. The prediction reads nothing of the run but its plan.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "plan/plan.h"
#include "search/evaluate.h"
#include "timeline/compare.h"

namespace headroom {
namespace {

struct Recorded {
    const char* file;
    double step_error;         // largest allowed, relative
    double host_error = 0.01;  // of the host's peak
};

// As predicted by the shipped file, which knows none of these runs: -1.5, -5.6, -0.7, -3.2 and -2.3 %. The
// engine of the second and the fourth took ten times as long for a chunk's own sums and merges as it does
// now. Sparse: the plan's model of selections assumes that chunks choose no page again; what they did choose
// is in the measured memory.
const Recorded kRecorded[] = {{"h200-2026-11-29/qwen2.5-7b-64k-exact.trace.json.gz", 0.02},
                              {"h200-2026-11-29/qwen2.5-7b-8k-exact.trace.json.gz", 0.065},
                              {"h200-2026-11-30/qwen2.5-7b-64k-exact-offload.trace.json.gz", 0.02},
                              {"h200-2026-11-30/qwen2.5-7b-128k-sparse-offload.trace.json.gz", 0.04, 0.06},
                              {"h200-2026-11-30/qwen2.5-7b-256k-exact-offload.trace.json.gz", 0.03}};

TEST(RecordedRuns, ArePredicted) {
    for (const Recorded& r : kRecorded) {
        SCOPED_TRACE(r.file);
        const Result<Timeline> measured =
            read_timeline(std::filesystem::path(HEADROOM_SOURCE_DIR) / "traces" / r.file);
        ASSERT_TRUE(measured) << measured.error().text();
        EXPECT_EQ(measured->source, "measured");
        EXPECT_TRUE(std::isfinite(measured->results.at("loss")));
        Result<Plan> plan = parse_plan(measured->plan, r.file);
        ASSERT_TRUE(plan) << plan.error().text();
        const Result<Hardware> now = read_hardware(plan->hardware.name, HEADROOM_SOURCE_DIR);
        ASSERT_TRUE(now) << now.error().text();
        plan->hardware = *now;
        const Result<Timeline> predicted = predict(*plan);
        ASSERT_TRUE(predicted) << predicted.error().text();
        const Result<Comparison> c = compare(*predicted, *measured);
        ASSERT_TRUE(c) << c.error().text();
        EXPECT_EQ(c->unmatched_ops, 0);
        for (const Difference& d : c->differences) {
            if (d.group == "step" || d.group == "tier")
                std::printf("%-60s %-12s %+6.2f %%\n", r.file, d.what.c_str(), 100 * d.error);
            const double allowed = d.group == "step"       ? r.step_error
                                   : d.what == "host peak" ? r.host_error
                                                           : 0.01;
            if (d.group == "step" || d.group == "tier") {
                EXPECT_LT(std::abs(d.error), allowed) << d.what;
            }
        }
    }
}

}  // namespace
}  // namespace headroom
