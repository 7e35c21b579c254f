#include "gui/paint/log_axis.h"

#include <gtest/gtest.h>

#include <QStringList>

namespace headroom::gui::test {
namespace {

QStringList labels(const std::vector<Tick>& ticks) {
    QStringList all;
    for (const Tick& t : ticks) all << t.label;
    return all;
}

TEST(ContextTicks, ArePowersOfTwo) {
    EXPECT_EQ(labels(context_ticks(65536, 1 << 20, 10)),
              (QStringList{"64Ki", "128Ki", "256Ki", "512Ki", "1Mi"}));
    EXPECT_EQ(labels(context_ticks(65536, 1 << 20, 3)), (QStringList{"64Ki", "256Ki", "1Mi"}));
    EXPECT_EQ(labels(context_ticks(65537, 200'000, 10)), (QStringList{"128Ki"}));
    EXPECT_EQ(context_ticks(65536, 65536, 10).front().value, 16);
}

TEST(LogTime, TicksAreTimesThatPeopleKnow) {
    EXPECT_EQ(labels(log_time_ticks(1e9, 3.6e12)), (QStringList{"1 s", "10 s", "1 min", "10 min", "1 h"}));
    EXPECT_EQ(labels(log_time_ticks(2e6, 2e7)), (QStringList{"10 ms"}));
    EXPECT_DOUBLE_EQ(log_time_ticks(6e10, 6e10).front().value, log_position(6e10));
}

TEST(LogTime, TheRangeGoesFromTickToTick) {
    const LogRange range = log_time_range(7e9, 9e10);
    EXPECT_EQ(range.low, 1e9);
    EXPECT_EQ(range.high, 6e11);
    const LogRange one = log_time_range(1e9, 1e9);
    EXPECT_EQ(one.low, 1e9);
    EXPECT_EQ(one.high, 1e10);
    EXPECT_GT(log_time_range(1e30, 1e31).high, 0);
}

}  // namespace
}  // namespace headroom::gui::test
