#include <gtest/gtest.h>

#include <random>

#include "base/text.h"

namespace headroom {
namespace {

TEST(FormatBytes, UsesBinaryUnits) {
    EXPECT_EQ(format_bytes(Bytes(0)), "0 B");
    EXPECT_EQ(format_bytes(Bytes(512)), "512 B");
    EXPECT_EQ(format_bytes(Bytes(1023)), "1023 B");
    EXPECT_EQ(format_bytes(Bytes(1024)), "1 KiB");
    EXPECT_EQ(format_bytes(Bytes(1536)), "1.50 KiB");
    EXPECT_EQ(format_bytes(Bytes(119614837228)), "111.40 GiB");
    EXPECT_EQ(format_bytes(Bytes(80 * kGiB)), "80 GiB");
    EXPECT_EQ(format_bytes(Bytes(-3 * kGiB / 2)), "-1.50 GiB");
}

TEST(FormatBytes, RoundsHalvesUpAndIntoTheNextUnit) {
    EXPECT_EQ(format_bytes(Bytes(kGiB + kGiB / 200)), "1.00 GiB");      // 1.00499...
    EXPECT_EQ(format_bytes(Bytes(kGiB + kGiB / 200 + 1)), "1.01 GiB");  // 1.00500...
    EXPECT_EQ(format_bytes(Bytes(kMiB - 1)), "1.00 MiB");
    EXPECT_EQ(format_bytes(Bytes(kMiB - 6)), "1023.99 KiB");
    EXPECT_EQ(format_bytes(Bytes(INT64_MAX)), "8.00 EiB");
    EXPECT_EQ(format_bytes(Bytes(INT64_MIN)), "-8 EiB");
}

TEST(FormatTime, UsesThreeDigitsBelowAMinute) {
    EXPECT_EQ(format_time(Nanoseconds(0)), "0 ns");
    EXPECT_EQ(format_time(Nanoseconds(999)), "999 ns");
    EXPECT_EQ(format_time(Nanoseconds(1500)), "1.50 us");
    EXPECT_EQ(format_time(Nanoseconds(12'340'000)), "12.3 ms");
    EXPECT_EQ(format_time(Nanoseconds(820'000'000)), "820 ms");
    EXPECT_EQ(format_time(Nanoseconds(1'310'000'000)), "1.31 s");
    EXPECT_EQ(format_time(Nanoseconds(59'900'000'000)), "59.9 s");
    EXPECT_EQ(format_time(Nanoseconds(-820'000'000)), "-820 ms");
}

TEST(FormatTime, UsesTwoUnitsAboveAMinute) {
    EXPECT_EQ(format_time(Nanoseconds(60'000'000'000)), "1 min 0.0 s");
    EXPECT_EQ(format_time(Nanoseconds(192'000'000'000)), "3 min 12.0 s");
    EXPECT_EQ(format_time(Nanoseconds(3'600'000'000'000)), "1 h 0 min");
    EXPECT_EQ(format_time(Nanoseconds(7'500'000'000'000)), "2 h 5 min");
    EXPECT_EQ(format_time(Nanoseconds(INT64_MAX)), "2562047 h 47 min");
}

TEST(FormatTime, RoundsIntoTheNextForm) {
    EXPECT_EQ(format_time(Nanoseconds(9'994)), "9.99 us");
    EXPECT_EQ(format_time(Nanoseconds(9'995)), "10.0 us");
    EXPECT_EQ(format_time(Nanoseconds(99'950)), "100 us");
    EXPECT_EQ(format_time(Nanoseconds(999'499)), "999 us");
    EXPECT_EQ(format_time(Nanoseconds(999'500)), "1.00 ms");
    EXPECT_EQ(format_time(Nanoseconds(59'949'999'999)), "59.9 s");
    EXPECT_EQ(format_time(Nanoseconds(59'950'000'000)), "1 min 0.0 s");
    EXPECT_EQ(format_time(Nanoseconds(3'599'949'999'999)), "59 min 59.9 s");
    EXPECT_EQ(format_time(Nanoseconds(3'599'950'000'000)), "1 h 0 min");
}

TEST(FormatTokens, IsExact) {
    EXPECT_EQ(format_tokens(Tokens(0)), "0");
    EXPECT_EQ(format_tokens(Tokens(1048576)), "1Mi");
    EXPECT_EQ(format_tokens(Tokens(1000000)), "1000000");
    EXPECT_EQ(format_tokens(Tokens(4096)), "4Ki");
    EXPECT_EQ(format_tokens(Tokens(65000)), "65000");
    EXPECT_EQ(format_tokens(Tokens(1536 * kKiB)), "1536Ki");
}

TEST(FormatTokens, ReadsBackTheSame) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 10000; ++i) {
        // All magnitudes, many of them multiples of a power of two.
        const int64_t n =
            static_cast<int64_t>(random() >> 1 >> random() % 63) & -(int64_t{1} << random() % 50);
        ASSERT_EQ(parse_tokens(format_tokens(Tokens(n)), ""), Tokens(n)) << n;
    }
}

TEST(FormatInteger, GroupsThreeDigits) {
    EXPECT_EQ(format_integer(0), "0");
    EXPECT_EQ(format_integer(999), "999");
    EXPECT_EQ(format_integer(1000), "1,000");
    EXPECT_EQ(format_integer(1234567), "1,234,567");
    EXPECT_EQ(format_integer(-123456), "-123,456");
    EXPECT_EQ(format_integer(INT64_MIN), "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace headroom
