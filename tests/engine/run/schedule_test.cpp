#include "run/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace headroom::engine {
namespace {

using Shape = Schedule::Shape;

TEST(Schedule, ConstantStays) {
    const Schedule s{Shape::constant, 0.25, 0, 0, 0};
    for (const int64_t step : {0, 1, 1000000}) EXPECT_EQ(learning_rate(s, step), 0.25);
}

TEST(Schedule, WarmUpRisesInEqualStepsWhateverFollows) {
    for (const Shape shape : {Shape::constant, Shape::linear, Shape::cosine}) {
        const Schedule s{shape, 1, 0.5, 4, 10};
        for (int64_t step = 0; step < 4; ++step)
            EXPECT_DOUBLE_EQ(learning_rate(s, step), 0.25 * static_cast<double>(step + 1));
        EXPECT_EQ(learning_rate(s, 4), 1);
    }
}

TEST(Schedule, LinearAndCosineReachTheLeastAtTheEndAndStay) {
    const Schedule line{Shape::linear, 1, 0.2, 2, 10}, cosine{Shape::cosine, 1, 0.2, 2, 10};
    EXPECT_DOUBLE_EQ(learning_rate(line, 4), 0.8);
    EXPECT_DOUBLE_EQ(learning_rate(line, 6), 0.6);
    EXPECT_DOUBLE_EQ(learning_rate(cosine, 6), 0.6);  // half of the way
    EXPECT_DOUBLE_EQ(learning_rate(cosine, 4), 0.2 + 0.8 * (1 + std::cos(std::numbers::pi / 4)) / 2);
    for (const Schedule& s : {line, cosine}) {
        for (int64_t step = 2; step < 10; ++step)
            EXPECT_LT(learning_rate(s, step + 1), learning_rate(s, step));
        EXPECT_DOUBLE_EQ(learning_rate(s, 10), 0.2);
        EXPECT_DOUBLE_EQ(learning_rate(s, 11), 0.2);
    }
}

TEST(Schedule, OneThatIsAllWarmUpEndsAtItsPeak) {
    const Schedule s{Shape::cosine, 1, 0, 3, 3};
    EXPECT_TRUE(check_schedule(s));
    EXPECT_DOUBLE_EQ(learning_rate(s, 2), 1);
}

TEST(Schedule, WhatMakesNoSenseIsNamed) {
    EXPECT_EQ(check_schedule({Shape::linear, 1, 2, 0, 10}).error().where, "--min-learning-rate");
    EXPECT_EQ(check_schedule({Shape::cosine, 1, 0, 11, 10}).error().text(),
              "--warmup-steps: 11 of 10 steps; allowed: at most --total-steps (default: --steps)");
    EXPECT_TRUE(check_schedule({Shape::constant, 1, 2, 11, 10}));
}

}  // namespace
}  // namespace headroom::engine
