#include "calibrate/bench.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/interrupt.h"

namespace headroom::engine {
namespace {

const Doing go_on = [](const std::string&, double) { return true; };

Timed piece(const std::string& name, std::function<void()> work) {
    Timed t;
    t.name = name;
    t.work = std::move(work);
    return t;
}

TEST(Bench, TheMiddleOfSamples) {
    std::vector<double> odd{5, 1, 3}, even{4, 1, 3, 2}, one{7};
    EXPECT_EQ(middle_of(odd).median, 3);
    EXPECT_EQ(middle_of(even).median, 2.5);
    EXPECT_EQ(middle_of(one).median, 7);
    EXPECT_EQ(middle_of(one).spread, 0);
    std::vector<double> wide{1, 2, 2, 2, 2, 2, 3, 2};
    EXPECT_EQ(middle_of(wide).spread, 0);
    std::vector<double> wider{1, 1, 2, 3, 3};
    EXPECT_EQ(middle_of(wider).spread, 1);
}

TEST(Bench, TimesEachPieceInEveryRound) {
    int slow = 0, fast = 0, rounds = 0;
    std::vector<Timed> pieces{piece("slow",
                                    [&] {
                                        ++slow;
                                        std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                    }),
                              piece("fast", [&] { ++fast; })};
    Rounds r;
    r.rounds = 3;
    r.before = [&] { ++rounds; };
    const auto done = time_in_rounds(pieces, r, at::kCPU, "test", go_on);
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(slow, 4);  // once alone, then each round
    EXPECT_EQ(fast, 4);
    EXPECT_EQ(rounds, 3);
    EXPECT_GE(pieces[0].seconds, 5e-3);
    EXPECT_GT(pieces[1].seconds, 0);
    EXPECT_LT(pieces[1].seconds, 5e-3);
}

TEST(Bench, APieceThatFailsIsLeftOutAndSaysWhy) {
    int later = 0;
    std::vector<Timed> pieces{
        piece("bad", [] { TORCH_CHECK(false, "no such kernel\nsecond line"); }), piece("good", [] {}),
        piece("later", [&] { TORCH_CHECK(++later < 3, "breaks in the second round"); })};
    Timed never = piece("never", {});
    never.problem = "was not built";
    pieces.push_back(never);
    Rounds r;
    r.rounds = 4;
    ASSERT_TRUE(time_in_rounds(pieces, r, at::kCPU, "test", go_on));
    EXPECT_EQ(pieces[0].problem, "no such kernel");
    EXPECT_EQ(pieces[0].seconds, 0);
    EXPECT_EQ(pieces[1].problem, "");
    EXPECT_GT(pieces[1].seconds, 0);
    EXPECT_EQ(pieces[2].problem, "breaks in the second round");
    EXPECT_EQ(pieces[2].seconds, 0);
    EXPECT_EQ(pieces[3].problem, "was not built");
}

TEST(Bench, StopsWhenAsked) {
    std::vector<Timed> pieces{piece("one", [] {})};
    const auto done =
        time_in_rounds(pieces, {}, at::kCPU, "test", [](const std::string&, double) { return false; });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, Fault::interrupted);
}

}  // namespace
}  // namespace headroom::engine
