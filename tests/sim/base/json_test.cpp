#include "base/json.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

std::string error_of(std::string_view text) {
    const auto parsed = parse_json(text, "a.json");
    return parsed ? "" : parsed.error().text();
}

TEST(Json, ReadsEveryKindOfValue) {
    auto root = parse_json(
        R"({"s": "x", "n": -3, "d": 0.5, "b": true, "l": [1, 2], "t": {"a": 1}, "z": null})", "a.json");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->need<std::string>("s"), "x");
    EXPECT_EQ(root->need<int64_t>("n"), -3);
    EXPECT_EQ(root->need<double>("d"), 0.5);
    EXPECT_EQ(root->need<bool>("b"), true);
    EXPECT_EQ(root->need<std::vector<int64_t>>("l"), (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(root->need<ConfigTable>("t")->need<int64_t>("a"), 1);
    EXPECT_EQ(root->get<int64_t>("z").value(), std::nullopt);
    EXPECT_TRUE(root->finish());
}

TEST(Json, KeepsLines) {
    auto root = parse_json("{\n\"a\": 1,\n\n\"b\": {\"c\": 2\n},\n\"l\": [\n1\n,\n2\n]}", "a.json");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->place("a"), "a.json:2, key 'a'");
    EXPECT_EQ(root->need<ConfigTable>("b")->place("c"), "a.json:4, key 'b.c'");
    const auto items = root->need("l")->items();
    ASSERT_TRUE(items);
    EXPECT_EQ(items->at(0).place(), "a.json:7, key 'l[0]'");
    EXPECT_EQ(items->at(1).place(), "a.json:9, key 'l[1]'");
}

TEST(Json, LastOfTwoEqualKeysCounts) {
    auto root = parse_json(R"({"a": 1, "b": 2, "a": 3})", "a.json");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->need<int64_t>("a"), 3);
    EXPECT_EQ(root->keys(), (std::vector<std::string>{"a", "b"}));
}

TEST(Json, NamesThePlaceOfASyntaxError) {
    EXPECT_TRUE(error_of("{\n \"a\": 1,\n}").starts_with("a.json:3:1: not JSON: "))
        << error_of("{\n \"a\": 1,\n}");
    EXPECT_TRUE(error_of("{\"a\": }").starts_with("a.json:1:7: not JSON: ")) << error_of("{\"a\": }");
    for (const char* text :
         {"", "{", "{\"a\"", "{\"a\": tru", "{\"a\": 1} x", "{'a': 1}", "{\"a\": 01}", "{\"a\": NaN}",
          "{\"a\": \"\n\"}", "{\"a\": \"\\x\"}", "{\"a\": \"\xff\"}", "{\"a\": \"\\ud800\"}", "\xff"})
        EXPECT_TRUE(error_of(text).starts_with("a.json:")) << text;
}

TEST(Json, RefusesWhatNoPlanHas) {
    EXPECT_EQ(error_of("[1]"), "a.json: not an object; allowed: a JSON object");
    EXPECT_EQ(error_of(std::string_view("{\"a\": 1}\0", 9)), "a.json: a NUL at byte 8; allowed: JSON");
    EXPECT_EQ(error_of("{\"a\": \"\\u0000\"}"), "a.json:1:14: a string with a NUL; allowed: text");
    EXPECT_NE(error_of("{\"a\": 1e999}"), "");
}

TEST(Json, WholeNumbersEndAtTheRangeOfTheType) {
    auto root = parse_json(
        R"({"a": 9223372036854775807, "b": 9223372036854775808, "c": 99999999999999999999})", "a.json");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->need<int64_t>("a"), INT64_MAX);
    EXPECT_EQ(root->need<int64_t>("b").error().text(),
              "a.json:1, key 'b': the number 9223372036854775808; allowed: a whole number");
    EXPECT_FALSE(root->need<int64_t>("c"));
}

std::string nested(size_t depth) {
    return "{\"a\": " + std::string(depth, '[') + std::string(depth, ']') + "}";
}

TEST(Json, DepthIsLimited) {
    EXPECT_EQ(error_of(nested(99)), "");
    EXPECT_EQ(error_of(nested(100)), "a.json:1:106: nested deeper than 100; allowed: less depth");
    EXPECT_NE(error_of(std::string(10000000, '[')), "");
}

TEST(Json, ByteOrderMarkIsPassedOver) {
    EXPECT_EQ(error_of("\xef\xbb\xbf{}"), "");
}

}  // namespace
}  // namespace headroom
