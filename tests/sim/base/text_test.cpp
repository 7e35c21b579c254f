#include "base/text.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(ParseCount, KnowsBothKindsOfSuffix) {
    EXPECT_EQ(parse_count("0", ""), 0);
    EXPECT_EQ(parse_count("4096", ""), 4096);
    EXPECT_EQ(parse_count("64Ki", ""), 65536);
    EXPECT_EQ(parse_count("1M", ""), 1000000);
    EXPECT_EQ(parse_count("1Mi", ""), 1048576);
    EXPECT_EQ(parse_count("2G", ""), 2000000000);
    EXPECT_EQ(parse_count("1Ti", ""), kTiB);
    EXPECT_EQ(parse_count(" 1 Mi ", ""), 1048576);
    EXPECT_EQ(parse_count("0007", ""), 7);
}

TEST(ParseCount, TakesAFractionThatMakesAWholeNumber) {
    EXPECT_EQ(parse_count("0.5Ki", ""), 512);
    EXPECT_EQ(parse_count("1.50", "").error().found, "'1.50' is not a whole number");
    EXPECT_EQ(parse_count("2.000", ""), 2);
    EXPECT_EQ(parse_count("1.5M", ""), 1500000);
    EXPECT_EQ(parse_count("0.0009765625Ki", ""), 1);
    EXPECT_FALSE(parse_count("0.0009765626Ki", ""));
    EXPECT_FALSE(parse_count("0.3Ki", ""));
}

TEST(ParseCount, EndsAtTheRangeOfTheType) {
    EXPECT_EQ(parse_count("9223372036854775807", ""), INT64_MAX);
    EXPECT_EQ(parse_count("9223372036854775808", "").error().found,
              "'9223372036854775808' is larger than 2^63 - 1");
    EXPECT_EQ(parse_count("8388607Ti", ""), 8388607 * kTiB);
    EXPECT_FALSE(parse_count("8388608Ti", ""));
    EXPECT_FALSE(parse_count(std::string(1000, '9'), ""));
    EXPECT_FALSE(parse_count("0." + std::string(1000, '1') + "Ti", ""));
}

TEST(ParseCount, SaysWhatIsWrong) {
    EXPECT_EQ(parse_count("4Kib", "--chunk").error().text(),
              "--chunk: '4Kib' has an unknown unit, 'Kib'; allowed: a whole number such as 4096, 64Ki "
              "(65536) or 1M "
              "(1000000)");
    EXPECT_EQ(parse_count("", "").error().found, "'' is not a number");
    EXPECT_EQ(parse_count("Ki", "").error().found, "'Ki' is not a number");
    EXPECT_EQ(parse_count("-1", "").error().found, "'-1' is negative or not a number");
    EXPECT_EQ(parse_count("1.", "").error().found, "'1.' has no digits after the point");
    for (const char* text :
         {"+1", "1e3", "0x10", "1_000", "1,000", "inf", "nan", "4k", ".5Ki", "1 2", "1..5"})
        EXPECT_FALSE(parse_count(text, "")) << text;
}

TEST(ParseCount, DoesNotRepeatLongInput) {
    EXPECT_LT(parse_count(std::string(100000, 'x'), "").error().text().size(), 300U);
}

TEST(ParseTokens, IsACountOfTokens) {
    EXPECT_EQ(parse_tokens("4Mi", ""), Tokens(4194304));
    EXPECT_NE(parse_tokens("a", "").error().allowed.find("tokens"), std::string::npos);
}

TEST(ParseBytes, KnowsByteUnitsOnly) {
    EXPECT_EQ(parse_bytes("1024", ""), Bytes(1024));
    EXPECT_EQ(parse_bytes("4096B", ""), Bytes(4096));
    EXPECT_EQ(parse_bytes("80GB", ""), Bytes(80000000000));
    EXPECT_EQ(parse_bytes("112GiB", ""), Bytes(112 * kGiB));
    EXPECT_EQ(parse_bytes("512 MiB", ""), Bytes(512 * kMiB));
    EXPECT_EQ(parse_bytes("1.5TiB", ""), Bytes(1536 * kGiB));
    EXPECT_EQ(parse_bytes("0.5KB", ""), Bytes(500));
    for (const char* text : {"1Ki", "1gib", "1Gb", "0.5B", "-1GiB", "GiB"})
        EXPECT_FALSE(parse_bytes(text, "")) << text;
}

TEST(ParseShare, IsAPercentageOrANumber) {
    EXPECT_DOUBLE_EQ(parse_share("5%", "").value(), 0.05);
    EXPECT_DOUBLE_EQ(parse_share("0.05", "").value(), 0.05);
    EXPECT_DOUBLE_EQ(parse_share("0", "").value(), 0);
    EXPECT_DOUBLE_EQ(parse_share("250%", "").value(), 2.5);
    for (const char* text : {"", "%", "-1%", "-0", "nan", "inf", "1e999", "5%%", "5 %x", "0x1p3", "five"})
        EXPECT_FALSE(parse_share(text, "")) << text;
    EXPECT_EQ(parse_share("-1%", "--tolerance").error().text(),
              "--tolerance: '-1%' is negative; allowed: a share such as 5% or 0.05, 0 or more");
}

}  // namespace
}  // namespace headroom
