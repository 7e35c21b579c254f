#include <gtest/gtest.h>

#include "base/json.h"
#include "base/table.h"
#include "base/toml.h"

namespace headroom {
namespace {

ConfigValue value_of(const std::string& toml) {
    return parse_toml("v = " + toml, "a.toml")->need("v").value();
}
template <class T>
std::string allowed(const std::string& toml) {
    const auto read = value_of(toml).as<T>();
    return read ? "accepted" : read.error().allowed;
}

TEST(ConfigValue, SaysWhatItIs) {
    EXPECT_EQ(value_of("'abc'").found(), "a string 'abc'");
    EXPECT_EQ(value_of("-5").found(), "the number -5");
    EXPECT_EQ(value_of("0.1").found(), "the number 0.1");
    EXPECT_EQ(value_of("false").found(), "false");
    EXPECT_EQ(value_of("[1, 2]").found(), "a list of 2");
    EXPECT_EQ(value_of("{}").found(), "a table");
    EXPECT_LT(value_of("'" + std::string(1000, 'x') + "'").found().size(), 100U);
    EXPECT_EQ(value_of("'a'").wrong("b").value().text(), "a.toml:1, key 'v': a string 'a'; allowed: b");
}

TEST(ConfigValue, KnowsItsKind) {
    EXPECT_TRUE(value_of("'a'").is_string());
    EXPECT_TRUE(value_of("1").is_number() && value_of("1.5").is_number());
    EXPECT_TRUE(value_of("[]").is_list());
    EXPECT_TRUE(value_of("{}").is_table());
    EXPECT_FALSE(value_of("'1'").is_number() || value_of("true").is_number() || value_of("1").is_string());
    EXPECT_TRUE(parse_json("{\"l\": [null]}", "")->need("l")->items()->at(0).is_null());
}

TEST(ConfigValue, WholeNumbers) {
    EXPECT_EQ(value_of("4096").as<int64_t>(), 4096);
    EXPECT_EQ(value_of("4096.0").as<int64_t>(), 4096);
    EXPECT_EQ(value_of("9007199254740992.0").as<int64_t>(), int64_t{1} << 53);
    EXPECT_EQ(allowed<int64_t>("9007199254740994.0"), "a whole number");
    EXPECT_EQ(allowed<int64_t>("1.5"), "a whole number");
    EXPECT_EQ(allowed<int64_t>("'4096'"), "a whole number");
    EXPECT_EQ(allowed<int64_t>("true"), "a whole number");
    EXPECT_EQ(value_of("2147483647").as<int32_t>(), 2147483647);
    EXPECT_EQ(value_of("-2147483648").as<int32_t>(), INT32_MIN);
    EXPECT_EQ(allowed<int32_t>("2147483648"), "a whole number, -2147483648 to 2147483647");
    EXPECT_EQ(allowed<int32_t>("-2147483649"), "a whole number, -2147483648 to 2147483647");
}

TEST(ConfigValue, Quantities) {
    EXPECT_EQ(value_of("4096").as<Tokens>(), Tokens(4096));
    EXPECT_EQ(value_of("'4Ki'").as<Tokens>(), Tokens(4096));
    EXPECT_EQ(value_of("'112GiB'").as<Bytes>(), Bytes(112 * kGiB));
    EXPECT_EQ(value_of("0").as<Bytes>(), Bytes(0));
    EXPECT_EQ(value_of("7").as<Nanoseconds>(), Nanoseconds(7));
    EXPECT_EQ(allowed<Tokens>("-1"), "a whole number of tokens such as 4096 or \"4Ki\"");
    EXPECT_EQ(allowed<Bytes>("[]"), "a whole number of bytes such as 1024 or \"112GiB\"");
    EXPECT_EQ(allowed<Nanoseconds>("-1"), "a whole number of nanoseconds, 0 or more");
    EXPECT_EQ(value_of("'4GiB'").as<Tokens>().error().where, "a.toml:1, key 'v'");
}

TEST(ConfigValue, OtherTypes) {
    EXPECT_EQ(value_of("3").as<double>(), 3.0);
    EXPECT_EQ(allowed<double>("'3'"), "a number");
    EXPECT_EQ(allowed<bool>("1"), "true or false");
    EXPECT_EQ(allowed<std::string>("1"), "a string");
    EXPECT_EQ(value_of("'bf16'").as<Dtype>(), Dtype::bf16);
    EXPECT_EQ(allowed<Dtype>("16"), "a string");
    EXPECT_EQ(allowed<ConfigTable>("[]"), "a table");
}

TEST(ConfigValue, Lists) {
    EXPECT_EQ(value_of("['1Ki', 2]").as<std::vector<Tokens>>(),
              (std::vector<Tokens>{Tokens(1024), Tokens(2)}));
    EXPECT_EQ(value_of("[[1], [2, 3]]").as<std::vector<std::vector<double>>>(),
              (std::vector<std::vector<double>>{{1}, {2, 3}}));
    EXPECT_EQ(value_of("[[1], [2, 'x']]").as<std::vector<std::vector<double>>>().error().text(),
              "a.toml:1, key 'v[1][1]': a string 'x'; allowed: a number");
    EXPECT_EQ(allowed<std::vector<double>>("1"), "a list");
}

TEST(ConfigValue, Shares) {
    EXPECT_DOUBLE_EQ(value_of("'5%'").as_share().value(), 0.05);
    EXPECT_DOUBLE_EQ(value_of("0.25").as_share().value(), 0.25);
    EXPECT_EQ(value_of("1").as_share(), 1.0);
    EXPECT_FALSE(value_of("-0.1").as_share());
    EXPECT_FALSE(value_of("true").as_share());
    EXPECT_FALSE(value_of("'x'").as_share());
}

}  // namespace
}  // namespace headroom
