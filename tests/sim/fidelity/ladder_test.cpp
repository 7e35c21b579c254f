#include "fidelity/ladder.h"

#include <gtest/gtest.h>

namespace headroom::fidelity {
namespace {

TEST(Ladder, RungsAreWholePagesAwayFromTheLimit) {
    Ladder l;
    l.name = "l";
    l.rungs = {-0.01, 0, 0.005, 0.01};
    // 1 % of 10,016 is 100.16: 9,915.84 down to 9,888, 10,116.16 up to 10,144; 0.5 %: 10,066.08 up to 10,080.
    EXPECT_EQ(rung_contexts(l, Tokens(10016), Tokens(32)),
              (std::vector<Tokens>{Tokens(9888), Tokens(10016), Tokens(10080), Tokens(10144)}));
    // Those that fall on one page are one; none is below a page.
    EXPECT_EQ(rung_contexts(l, Tokens(64), Tokens(64)), (std::vector<Tokens>{Tokens(64), Tokens(128)}));
}

TEST(Ladder, RungsRunWithoutTheCheckOfMemory) {
    Ladder l;
    l.name = "l";
    l.question.model = "m";
    l.question.set = {"plan.page=32"};
    l.steps = 3;
    const SuitePlan p = rung_plan(l, Tokens(10080));
    EXPECT_EQ(p.name, "l@10080");
    EXPECT_EQ(p.question.set, (std::vector<std::string>{"plan.page=32", "context=10080"}));
    EXPECT_TRUE(p.no_device_check);
    EXPECT_EQ(p.ladder, "l");
    EXPECT_EQ(p.steps, 3);
}

}  // namespace
}  // namespace headroom::fidelity
