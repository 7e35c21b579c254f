#include "fidelity/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "results_maker.h"

namespace headroom::fidelity {
namespace {

using test::entry;
using test::failed;

const Finding* find(const std::vector<Finding>& list, std::string_view what) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const Finding& f) { return f.what == what; });
    return at == list.end() ? nullptr : &*at;
}

TEST(Judge, ErrorsAreRelativeToWhatWasMeasured) {
    Finding f;
    f.predicted = 90, f.measured = 100;
    EXPECT_DOUBLE_EQ(f.error(), -0.1);
    f.predicted = f.measured = 0;
    EXPECT_EQ(f.error(), 0);
    f.predicted = 1;
    EXPECT_TRUE(std::isinf(f.error()));
    f.judged = true, f.bound = 0.1;
    EXPECT_FALSE(f.within());
    f.predicted = 110, f.measured = 100;
    EXPECT_TRUE(f.within());
    f.predicted = 111;
    EXPECT_FALSE(f.within());
}

TEST(Judge, HoldsPeaksStreamsAndStepToTheirBounds) {
    Entry e = entry("a", 1000, 1000);
    for (const Finding& f : judge(*e.prediction, *e.run)) EXPECT_TRUE(f.within()) << f.what;
    // One in a hundred of the category, not of the tier.
    e.run->figures.tiers[0].category_peaks[static_cast<size_t>(Category::kv)] = 510;
    e.run->device_used_bytes = 2021;
    e.run->pinned_bytes = 203;
    e.run->figures.busy_ns[1] = 120;
    e.run->figures.step_ns = 1100;
    const std::vector<Finding> f = judge(*e.prediction, *e.run);
    for (const char* what : {"device kv", "driver total", "pinned", "to_device busy", "step time"}) {
        ASSERT_NE(find(f, what), nullptr) << what;
        EXPECT_FALSE(find(f, what)->within()) << what;
    }
    EXPECT_TRUE(find(f, "device peak")->within());
    EXPECT_FALSE(find(f, "qkv")->judged);
}

TEST(Judge, DoesNotJudgeWhatIsTooSmall) {
    Entry e = entry("a", 1000, 1000);
    e.prediction->figures.busy_ns[2] = 9;  // under 1 % of the step
    e.run->figures.busy_ns[2] = 4;
    const auto means = static_cast<size_t>(Category::page_tables);
    e.prediction->figures.tiers[0].category_peaks[means] = 7;  // under 0.5 % of 1,500
    std::vector<Finding> f = judge(*e.prediction, *e.run);
    EXPECT_FALSE(find(f, "to_host busy")->judged);
    EXPECT_FALSE(find(f, "device page_tables")->judged);
    e.prediction->figures.busy_ns[2] = 10;
    e.prediction->figures.tiers[0].category_peaks[means] = 8;
    f = judge(*e.prediction, *e.run);
    EXPECT_FALSE(find(f, "to_host busy")->within());
    EXPECT_FALSE(find(f, "device page_tables")->within());
    // Where the driver told nothing there is nothing to hold it against.
    e.run->device_used_bytes = 0;
    f = judge(*e.prediction, *e.run);
    EXPECT_EQ(find(f, "driver total"), nullptr);
}

const Verdict& verdict(const std::vector<Verdict>& list, std::string_view begin) {
    return *std::find_if(list.begin(), list.end(),
                         [&](const Verdict& v) { return v.what.starts_with(begin); });
}

TEST(Judge, MedianAndWorstAreOfTheUnseenHalf) {
    Results r;
    r.entries = {entry("a", 1010, 1000), entry("b", 980, 1000), entry("c", 1040, 1000),
                 entry("d", 2000, 1000, Half::fit), failed(entry("e", 9000, 1000), "it broke")};
    std::vector<Verdict> v = verdicts(r);
    const Verdict& median = verdict(v, "step time, unseen half (3 plans): median");
    EXPECT_EQ(median.found, "2.00 %");
    EXPECT_EQ(median.within, true);
    const Verdict& worst = verdict(v, "step time, unseen half (3 plans): worst");
    EXPECT_EQ(worst.found, "4.00 %");
    EXPECT_EQ(worst.where, "c");
    EXPECT_EQ(worst.within, true);
    EXPECT_FALSE(verdict(v, "step time, fit half (1 plans): worst").within.has_value());
    EXPECT_EQ(verdict(v, "busy time").within, false);  // d's streams, which are judged whatever the half

    r.entries[0] = entry("a", 1081, 1000);
    v = verdicts(r);
    EXPECT_EQ(verdict(v, "step time, unseen half (3 plans): median").within, false);  // 4 %
    EXPECT_EQ(verdict(v, "step time, unseen half (3 plans): worst").within, false);
    r.entries.clear();
    EXPECT_FALSE(verdict(verdicts(r), "memory: live").within.has_value());
}

LadderResult ladder(std::vector<int64_t> contexts, std::vector<int> ran) {
    LadderResult l;
    l.limit = Tokens(10000), l.page = Tokens(10);
    for (size_t i = 0; i < contexts.size(); ++i) {
        l.contexts.push_back(Tokens(contexts[i]));
        Entry e = entry("r", 1, 1);
        if (ran[i] == 0) e = failed(e, "cudaMalloc");
        if (ran[i] < 0) e.run.reset();
        l.rungs.push_back(std::move(e));
    }
    return l;
}

TEST(Judge, LadderIsRightIfTheLimitRunsAndTheNextHundredthFails) {
    const Bounds b;
    EXPECT_EQ(ladder({10000, 10050, 10100}, {1, 1, 0}).right(b), true);
    EXPECT_EQ(ladder({10000, 10050, 10100}, {1, 0, -1}).right(b), true);
    EXPECT_EQ(ladder({10000, 10050}, {0, -1}).right(b), false);
    EXPECT_EQ(ladder({10000, 10100, 10110}, {1, 1, 0}).right(b), false);  // a page beyond the bound
    EXPECT_EQ(ladder({10000, 10109}, {1, 0}).right(b), true);             // the bound within the page
    EXPECT_EQ(ladder({10000, 10050}, {1, 1}).right(b), std::nullopt);     // none failed
    EXPECT_EQ(ladder({10000, 10050}, {-1, 0}).right(b), std::nullopt);
    EXPECT_EQ(ladder({9900, 10100}, {1, 0}).right(b), std::nullopt);  // the limit itself was not tried
    EXPECT_EQ(ladder({10050, 10100}, {1, 0}).right(b), true);         // more than it ran
    EXPECT_EQ(ladder({9900, 9950}, {1, 0}).right(b), false);          // less than it failed
    EXPECT_EQ(ladder({9900, 10000, 10100}, {0, 1, 0}).right(b), false);
    LadderResult refused = ladder({10000, 10050}, {1, 0});
    refused.rungs[1].run->exit_code = 2;
    EXPECT_EQ(refused.right(b), std::nullopt);
}

TEST(Judge, RankingLosesWhatTheFirstTakesLonger) {
    Ranking k;
    k.name = "k";
    k.plans = {"a", "b", "c"};
    std::vector<Entry> entries{entry("a", 300, 310), entry("x", 1, 1), entry("b", 100, 204),
                               entry("c", 200, 200)};
    RankingResult r = rank(k, entries);
    EXPECT_EQ(r.entries, (std::vector<size_t>{2, 3, 0}));
    ASSERT_TRUE(r.lost);
    EXPECT_DOUBLE_EQ(*r.lost, 204.0 / 200 - 1);
    entries[3] = failed(entries[3], "no");
    EXPECT_FALSE(rank(k, entries).lost);
    entries[3].prediction.reset();
    EXPECT_FALSE(rank(k, entries).lost);
}

}  // namespace
}  // namespace headroom::fidelity
