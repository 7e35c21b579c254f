#include "plan/overrides.h"

#include <gtest/gtest.h>

#include "base/toml.h"

namespace headroom {
namespace {

ConfigTable overridden(const std::string& toml, const std::vector<std::string>& pairs) {
    const auto out = apply_overrides(parse_toml(toml, "f.toml").value(), pairs);
    EXPECT_TRUE(out) << out.error().text();
    return *out;
}

// What key 'a' is after the override, as messages name it.
std::string found(const std::string& pair) {
    ConfigTable root = overridden("", {pair});
    return root.find("a").value().found();
}

TEST(Overrides, ValuesAreTomlOrPlainText) {
    EXPECT_EQ(found("a=4096"), "the number 4096");
    EXPECT_EQ(found("a=0.5"), "the number 0.5");
    EXPECT_EQ(found("a=2Mi"), "a string '2Mi'");
    EXPECT_EQ(found("a=\"2Mi\""), "a string '2Mi'");
    EXPECT_EQ(found("a=true"), "true");
    EXPECT_EQ(found("a="), "a string ''");
    EXPECT_EQ(found("a=b=c"), "a string 'b=c'");
    EXPECT_EQ(found("a=inf"), "a string 'inf'");
    EXPECT_EQ(found("a=2026-11-29"), "a string '2026-11-29'");
    EXPECT_EQ(found("a=['q', 'v']"), "a list of 2");
    EXPECT_EQ(found("a={ b = 1 }"), "a table");
    EXPECT_EQ(found("a=1\nb=2"), "a string '1?b=2'");
}

TEST(Overrides, ReachIntoTablesAndReplaceWhatStandsThere) {
    const auto number = [](const ConfigTable& root, const char* table, const char* key) {
        ConfigTable copy = root;
        return copy.need<ConfigTable>(table).value().need<int64_t>(key).value();
    };
    const ConfigTable both = overridden("[a]\nb = 1\nc = 2", {"a.b=3"});
    EXPECT_EQ(number(both, "a", "b"), 3);
    EXPECT_EQ(number(both, "a", "c"), 2);
    EXPECT_EQ(number(overridden("", {"a.b=3"}), "a", "b"), 3);
    EXPECT_EQ(number(overridden("a = 1", {"a.b=3"}), "a", "b"), 3);
    EXPECT_EQ(number(overridden("", {"a.b=3", "a.b=4"}), "a", "b"), 4);
}

TEST(Overrides, LeaveTheFileItselfAlone) {
    ConfigTable file = parse_toml("a = 1", "f.toml").value();
    ASSERT_TRUE(apply_overrides(file, {"a=2"}));
    EXPECT_EQ(file.need<int64_t>("a").value(), 1);
}

TEST(Overrides, ThatAreNoPairsAreErrors) {
    const ConfigTable file = parse_toml("", "f.toml").value();
    const std::string deep = "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1";  // 17 parts
    for (const std::string& pair : {std::string("a"), std::string("=1"), std::string("a..b=1"),
                                    std::string("a.=1"), std::string(), deep}) {
        const auto out = apply_overrides(file, {pair});
        ASSERT_FALSE(out) << pair;
        EXPECT_EQ(out.error().where, "--set " + pair);
        EXPECT_TRUE(out.error().allowed.starts_with("key=value")) << out.error().text();
    }
    EXPECT_TRUE(apply_overrides(file, {deep.substr(2)}));
}

TEST(PlaceOf, NamesTheLineOrTheOverride) {
    const ConfigTable root = overridden("[a]\nb = { x = 1 }\nc = 2\nd = 's'", {"a.b={ x = 2 }", "n.m=1"});
    EXPECT_EQ(place_of(root, "a.c"), "f.toml:3, key 'a.c'");
    EXPECT_EQ(place_of(root, "a.b"), "--set a.b={ x = 2 }");
    EXPECT_EQ(place_of(root, "a.b.x"), "--set a.b={ x = 2 }, key 'a.b.x'");
    EXPECT_EQ(place_of(root, "n.m"), "--set n.m=1");
    EXPECT_EQ(place_of(root, "n.o"), "--set n.m=1, key 'n.o'");
}

TEST(PlaceOf, AnAbsentKeyHasThePlaceOfItsTable) {
    const ConfigTable root = overridden("\n[a]\nd = 's'", {});
    EXPECT_EQ(place_of(root, "a.x"), "f.toml:2, key 'a.x'");
    EXPECT_EQ(place_of(root, "a.d.x"), "f.toml:3, key 'a.d'");
    EXPECT_EQ(place_of(root, "x"), "f.toml, key 'x'");
    EXPECT_EQ(place_of(root, "x.y"), "f.toml, key 'x.y'");
}

}  // namespace
}  // namespace headroom
