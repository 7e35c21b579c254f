#include "base/toml.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

std::string error_of(std::string_view text) {
    const auto parsed = parse_toml(text, "a.toml");
    return parsed ? "" : parsed.error().text();
}

TEST(Toml, ReadsEveryKindOfValue) {
    auto root =
        parse_toml("s = 'x'\nn = -3\nd = 0.5\nb = true\nl = [1, 2]\nt = { a = 1 }\n[u.v]\nw = 2\n", "a.toml");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->need<std::string>("s"), "x");
    EXPECT_EQ(root->need<int64_t>("n"), -3);
    EXPECT_EQ(root->need<double>("d"), 0.5);
    EXPECT_EQ(root->need<bool>("b"), true);
    EXPECT_EQ(root->need<std::vector<int64_t>>("l"), (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(root->need<ConfigTable>("t")->need<int64_t>("a"), 1);
    EXPECT_EQ(root->need<ConfigTable>("u")->need<ConfigTable>("v")->need<int64_t>("w"), 2);
    EXPECT_TRUE(root->finish());
}

TEST(Toml, KeepsOrderAndLines) {
    auto root = parse_toml("z = 1\n\na = 2\n[m]\nk = 3\n[[list]]\nx = 1\n[[list]]\nx = 'y'\n", "a.toml");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->keys(), (std::vector<std::string>{"z", "a", "m", "list"}));
    EXPECT_EQ(root->place("z"), "a.toml:1, key 'z'");
    EXPECT_EQ(root->place("a"), "a.toml:3, key 'a'");
    EXPECT_EQ(root->need<ConfigTable>("m")->place("k"), "a.toml:5, key 'm.k'");
    auto list = root->need<std::vector<ConfigTable>>("list");
    ASSERT_TRUE(list);
    EXPECT_EQ(list->at(1).need<int64_t>("x").error().text(),
              "a.toml:9, key 'list[1].x': a string 'y'; allowed: a whole number");
}

TEST(Toml, NamesThePlaceOfASyntaxError) {
    EXPECT_TRUE(error_of("a = 1\nb = = 2\n").starts_with("a.toml:2:5: not TOML: "))
        << error_of("a = 1\nb = = 2\n");
    EXPECT_TRUE(error_of("a = 1\na = 2\n").starts_with("a.toml:2:")) << error_of("a = 1\na = 2\n");
    EXPECT_NE(error_of("a = \"\xff\"\n"), "");
    EXPECT_NE(error_of(std::string_view("a = \"\0\"\n", 8)), "");
    EXPECT_NE(error_of("a = 9223372036854775808\n"), "");
}

TEST(Toml, HeaderWithoutAKeyIsNotToml) {
    for (const char* text : {"[,", "[, = 1]", "[[=]]", "[", "[[", "[]", "[#", "[\n", "[.", "[a..b]", "[a.]"})
        EXPECT_NE(error_of(text).find("not TOML"), std::string::npos) << text;
}

TEST(Toml, CharactersOutsideAsciiStandInStringsAndComments) {
    EXPECT_EQ(error_of("\xEF\xBB\xBF'ü' = 'ü' # ü\nb = \"ü\"\nd = \"\"\"x\\\n  ü\"\"\"\n"), "");
    for (const char* text :
         {"ü = 1", "a = ü", "a ü= 1", "a = 1 ü", "[ü]", "a = 0_{\"ü\"}", "a = \"\"\"\\ü\"\"\""})
        EXPECT_NE(error_of(text).find("not TOML"), std::string::npos) << text;
}

TEST(Toml, RefusesWhatNoScenarioHas) {
    EXPECT_EQ(error_of("a = 1\nb = nan\n"), "a.toml:2, key 'b': nan; allowed: a finite number");
    EXPECT_EQ(error_of("b = [1.0, -inf]\n"),
              "a.toml:1, key 'b[1]': inf or a number too large; allowed: a finite number");
    EXPECT_EQ(error_of("[u]\n[u.v]\nw = { x = [\n{ y = nan }] }\n"),
              "a.toml:4, key 'u.v.w.x[0].y': nan; allowed: a finite number");
    EXPECT_EQ(error_of("\"a\\nb\" = nan\n"), "a.toml:1, key 'a?b': nan; allowed: a finite number");
    EXPECT_NE(error_of("b = 1e999\n"), "");
    EXPECT_EQ(error_of("d = 2024-01-01\n"),
              "a.toml:1, key 'd': a date or time; allowed: a string, number, boolean, list or table");
}

std::string repeated(std::string_view part, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += part;
    return out;
}

TEST(Toml, DepthIsLimitedHoweverItIsWritten) {
    EXPECT_EQ(error_of(repeated("a.", 15) + "a = 1\n"), "");
    EXPECT_EQ(error_of("x = 1\n" + repeated("a.", 16) + "a = 1\n"),
              "a.toml:2: a key of more than 16 parts; allowed: fewer");
    EXPECT_NE(error_of("[" + repeated("a . ", 1000000) + "a]\n"), "");
    EXPECT_NE(error_of(repeated("\"=\".", 1000000) + "a = 1\n"), "");
    EXPECT_NE(error_of(repeated("'#'.", 1000000) + "a = 1\n"), "");
    EXPECT_NE(error_of("a = " + repeated("[", 1000000)), "");
    EXPECT_NE(error_of("a = " + repeated("{ a = ", 1000000)), "");
}

}  // namespace
}  // namespace headroom
