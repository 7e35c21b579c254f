#include "base/table.h"

#include <gtest/gtest.h>

#include "base/config_node.h"
#include "base/json.h"
#include "base/toml.h"

namespace headroom {
namespace {

ConfigTable table_of(std::string_view toml) {
    return parse_toml(toml, "a.toml").value();
}

TEST(ConfigTable, MissingKeyIsAnsweredWithItsTable) {
    auto root = table_of("\n[plan]\npage = 128\n");
    EXPECT_EQ(root.need<int64_t>("chunk").error().text(),
              "a.toml, key 'chunk': the key is missing; allowed: a value for 'chunk'");
    EXPECT_EQ(root.need<ConfigTable>("plan")->need<int64_t>("chunk").error().text(),
              "a.toml:2, key 'plan.chunk': the key is missing; allowed: a value for 'plan.chunk'");
}

TEST(ConfigTable, OptionalKeys) {
    auto root = table_of("a = 1\nb = 'x'\n");
    EXPECT_EQ(root.get<int64_t>("a").value(), 1);
    EXPECT_EQ(root.get<int64_t>("c").value(), std::nullopt);
    EXPECT_FALSE(root.get<int64_t>("b"));
    EXPECT_EQ(root.get_or<int64_t>("a", 7), 1);
    EXPECT_EQ(root.get_or<int64_t>("c", 7), 7);
    EXPECT_FALSE(root.get_or<int64_t>("b", 7));
}

TEST(ConfigTable, UnknownKeyIsNamedWithTheNearest) {
    auto root = table_of("[plan]\npage = 128\nchnk = 4096\nzzz = 1\n");
    auto plan = root.need<ConfigTable>("plan");
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->need<int64_t>("page"), 128);
    EXPECT_EQ(plan->get<int64_t>("chunk").value(), std::nullopt);
    EXPECT_EQ(
        plan->finish().error().text(),
        "a.toml:3, key 'plan.chnk': an unknown key (did you mean 'chunk'?); allowed: 'page' or 'chunk'");
    plan->allow("chnk");
    EXPECT_EQ(plan->finish().error().where, "a.toml:4, key 'plan.zzz'");
    plan->allow("zzz");
    EXPECT_TRUE(plan->finish());
    EXPECT_TRUE(root.finish());
    EXPECT_EQ(table_of("a = 1\n").finish().error().text(),
              "a.toml:1, key 'a': an unknown key; allowed: no key");
}

TEST(ConfigTable, OutlivesItsRoot) {
    auto inner = table_of("[a.b]\nc = 'long enough to stand on the heap'\n")
                     .need<ConfigTable>("a")
                     ->need<ConfigTable>("b");
    ASSERT_TRUE(inner);
    EXPECT_EQ(inner->need<std::string>("c"), "long enough to stand on the heap");
}

TEST(ConfigTable, ValueOfAnOverrideIsPlacedThere) {
    const auto root = table_of("a = 1\n");
    ConfigText text = text_of(root);
    text.overrides = {"a=x", "b.c=2"};
    auto& fields = std::get<ConfigNode::Fields>(text.root.value);
    fields[0].node = {"x", -1};
    fields.push_back({"b", {ConfigNode::Fields{{"c", {int64_t{2}, -2}}}, -2}});
    auto changed = open_root(std::move(text));
    EXPECT_EQ(changed.place("a"), "--set a=x");
    EXPECT_EQ(changed.need<ConfigTable>("b")->place("c"), "--set b.c=2");
    EXPECT_EQ(changed.need<ConfigTable>("b")->place("d"), "--set b.c=2, key 'b.d'");
    EXPECT_EQ(root.place("a"), "a.toml:1, key 'a'");
}

TEST(ConfigTable, PlacesAreShortAndPrintable) {
    const std::string key(1000, 'k');
    EXPECT_LT(table_of(key + " = 1\n").finish().error().where.size(), 100U);
    EXPECT_EQ(table_of("\"a\\nb\\u001b\" = 1\n").finish().error().where, "a.toml:1, key 'a?b?'");
}

}  // namespace
}  // namespace headroom
