#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace headroom {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(Quantity, ComputesInItsUnit) {
    EXPECT_EQ(Bytes(3) + Bytes(4), Bytes(7));
    EXPECT_EQ(Bytes(3) - Bytes(4), Bytes(-1));
    EXPECT_EQ(3 * Bytes(5), Bytes(15));
    EXPECT_EQ(Bytes(17) / Bytes(5), 3);
    EXPECT_EQ(Bytes(17) % Bytes(5), Bytes(2));
    EXPECT_LT(Tokens(1), Tokens(2));
}

TEST(Quantity, ThrowsRightPastTheEndOfItsRange) {
    EXPECT_EQ(Bytes(kMost - 1) + Bytes(1), Bytes(kMost));
    EXPECT_THROW(Bytes(kMost) + Bytes(1), Overflow);
    EXPECT_EQ(Bytes(kLeast + 1) - Bytes(1), Bytes(kLeast));
    EXPECT_THROW(Bytes(kLeast) - Bytes(1), Overflow);
    EXPECT_THROW(-Bytes(kLeast), Overflow);
    EXPECT_EQ(Bytes(kMost / 2) * 2, Bytes(kMost - 1));
    EXPECT_THROW(Bytes(kMost / 2 + 1) * 2, Overflow);
}

TEST(Rounding, GoesUpToTheNextMultiple) {
    EXPECT_EQ(ceil_div(0, 4), 0);
    EXPECT_EQ(ceil_div(4, 4), 1);
    EXPECT_EQ(ceil_div(5, 4), 2);
    EXPECT_EQ(ceil_div(kMost, 2), kMost / 2 + 1);
    EXPECT_EQ(round_up(513, 512), 1024);
    EXPECT_EQ(round_up(512, 512), 512);
    EXPECT_THROW(round_up(kMost, 512), Overflow);
}

}  // namespace
}  // namespace headroom
