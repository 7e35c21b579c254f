#include "gui/paint/time_axis.h"

#include <gtest/gtest.h>

#include <QStringList>

namespace headroom::gui::test {
namespace {

QStringList labels(const std::vector<Tick>& ticks) {
    QStringList all;
    for (const Tick& t : ticks) all << t.label;
    return all;
}

TEST(TimeAxis, PixelsAndInstants) {
    const TimeAxis axis{1000, 2000, 100, 500};
    EXPECT_EQ(axis.x_of(1000), 100);
    EXPECT_EQ(axis.x_of(1500), 350);
    EXPECT_EQ(axis.ns_at(350), 1500);
    EXPECT_EQ(axis.ns_at(600), 2000);
    EXPECT_EQ(axis.ns_at(0), 800);
}

TEST(TimeTicks, StandOnRoundInstants) {
    EXPECT_EQ(labels(time_ticks({0, 10'000'000'000, 0, 1000})),
              (QStringList{"0 s", "1 s", "2 s", "3 s", "4 s", "5 s", "6 s", "7 s", "8 s", "9 s", "10 s"}));
    EXPECT_EQ(labels(time_ticks({0, 1'000'000, 0, 200})), (QStringList{"0.0 ms", "0.5 ms", "1.0 ms"}));
}

TEST(TimeTicks, NeighboursHaveDifferentLabels) {
    // A microsecond looked at, an hour into the step.
    const std::vector<Tick> ticks = time_ticks({3'600'000'000'000, 3'600'000'001'000, 0, 1000});
    ASSERT_GE(ticks.size(), 2U);
    for (size_t i = 1; i < ticks.size(); ++i) EXPECT_NE(ticks[i].label, ticks[i - 1].label);
    EXPECT_EQ(ticks[0].label, "3600.0000000 s");
}

TEST(TimeTicks, AreNoNearerThanAsked) {
    for (const int64_t length : {1, 7, 100, 12'345, 1'000'000'007}) {
        const TimeAxis axis{0, length, 0, 800};
        const std::vector<Tick> ticks = time_ticks(axis, 90);
        for (size_t i = 1; i < ticks.size(); ++i)
            EXPECT_GE((ticks[i].value - ticks[i - 1].value) / axis.ns_per_pixel(), 89.999) << length;
        EXPECT_GE(ticks.size(), 1U) << length;
    }
}

TEST(ByteTicks, ArePowersOfTwo) {
    const int64_t gib = int64_t{1} << 30;
    EXPECT_EQ(labels(byte_ticks(139 * gib, 150)),
              (QStringList{"0", "32 GiB", "64 GiB", "96 GiB", "128 GiB"}));
    EXPECT_EQ(labels(byte_ticks(3000, 100)), (QStringList{"0", "1 KiB", "2 KiB"}));
    EXPECT_EQ(labels(byte_ticks(0, 100)), (QStringList{"0"}));
}

}  // namespace
}  // namespace headroom::gui::test
