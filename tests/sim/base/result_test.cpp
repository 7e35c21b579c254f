#include "base/result.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(Error, IsSaidOnOneLine) {
    EXPECT_EQ((Error{Fault::bad_input, "a.toml:3", "'x' is not a number", "4096"}.text()),
              "a.toml:3: 'x' is not a number; allowed: 4096");
    EXPECT_EQ((Error{Fault::bad_input, "", "nothing found", ""}.text()), "nothing found");
}

TEST(Error, DecidesTheExitCode) {
    EXPECT_EQ(exit_code(Fault::bad_input), 2);
    EXPECT_EQ(exit_code(Fault::does_not_fit), 3);
    EXPECT_EQ(exit_code(Fault::outside_tolerance), 4);
    EXPECT_EQ(exit_code(Fault::run_failed), 5);
    EXPECT_EQ(exit_code(Fault::interrupted), 130);
}

Result<int> half(int n) {
    if (n % 2 != 0) return fail("n", std::to_string(n), "an even number", Fault::run_failed);
    return n / 2;
}
Result<void> check_half(int n) {
    HEADROOM_TRY(const int unused, half(n));
    static_cast<void>(unused);
    return {};
}
Result<int> quarter(int n) {
    HEADROOM_CHECK(check_half(n));
    HEADROOM_TRY(const int h, half(n));
    return half(h);
}

TEST(Try, BindsTheValueOrReturnsTheError) {
    EXPECT_EQ(quarter(8), 2);
    ASSERT_FALSE(quarter(7));
    EXPECT_EQ(quarter(7).error().text(), "n: 7; allowed: an even number");
    EXPECT_EQ(quarter(6).error().fault, Fault::run_failed);
}

}  // namespace
}  // namespace headroom
