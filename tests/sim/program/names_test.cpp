#include "program/names.h"

#include <gtest/gtest.h>

#include <set>

namespace headroom {
namespace {

// Every value has a name of its own, and the name leads back to the value.
template <class E, class Parse>
void expect_both_ways(Parse parse) {
    std::set<std::string_view> names;
    for (size_t i = 0; i < static_cast<size_t>(E::count_); ++i) {
        const E value = static_cast<E>(i);
        const std::string_view name = name_of(value);
        EXPECT_FALSE(name.empty());
        EXPECT_TRUE(names.insert(name).second) << name << " names two values";
        const auto back = parse(name, "here");
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(*back, value);
    }
}

TEST(Names, LeadBackToTheValue) {
    expect_both_ways<Stream>(parse_stream);
    expect_both_ways<Tier>(parse_tier);
    expect_both_ways<Pass>(parse_pass);
    expect_both_ways<OpKind>(parse_op_kind);
    expect_both_ways<Category>(parse_category);
}

// The tables stand in the order of the enumerations: a name out of its place would shift all behind it.
TEST(Names, StandInTheOrderOfTheEnumerations) {
    EXPECT_EQ(name_of(Stream::to_host), "to_host");
    EXPECT_EQ(name_of(Tier::host), "host");
    EXPECT_EQ(name_of(Pass::gradient), "gradient");
    EXPECT_EQ(name_of(OpKind::embed), "embed");
    EXPECT_EQ(name_of(OpKind::lora), "lora");
    EXPECT_EQ(name_of(OpKind::head_backward), "head_backward");
    EXPECT_EQ(name_of(OpKind::gather_pages), "gather_pages");
    EXPECT_EQ(name_of(OpKind::weight_gradient), "weight_gradient");
    EXPECT_EQ(name_of(OpKind::load_pages), "load_pages");
    EXPECT_EQ(name_of(OpKind::store_states), "store_states");
    EXPECT_EQ(name_of(OpKind::read_pages), "read_pages");
    EXPECT_EQ(name_of(OpKind::reduce_scatter), "reduce_scatter");
    EXPECT_EQ(name_of(OpKind::update), "update");
    EXPECT_EQ(name_of(Category::kv_gradients), "kv_gradients");
    EXPECT_EQ(name_of(Category::page_cache), "page_cache");
    EXPECT_EQ(name_of(Category::slack), "slack");
}

TEST(Names, FindAnswersWithoutAMessage) {
    EXPECT_EQ(find_op_kind("norm_backward"), OpKind::norm_backward);
    EXPECT_EQ(find_category("page_tables"), Category::page_tables);
    EXPECT_EQ(find_pass("update"), Pass::update);
    EXPECT_FALSE(find_op_kind("Norm"));
    EXPECT_FALSE(find_category(""));
    EXPECT_FALSE(find_pass("fil"));
}

TEST(Names, AnUnknownNameIsMetWithTheNearest) {
    const auto kind = parse_op_kind("attention_pst", "trace: event 4");
    ASSERT_FALSE(kind);
    EXPECT_EQ(kind.error().where, "trace: event 4");
    EXPECT_NE(kind.error().found.find("'attention_pst'"), std::string::npos) << kind.error().found;
    EXPECT_NE(kind.error().found.find("'attention_past'"), std::string::npos) << kind.error().found;
    const auto tier = parse_tier("hots", "");
    ASSERT_FALSE(tier);
    EXPECT_NE(tier.error().allowed.find("'device'"), std::string::npos) << tier.error().allowed;
    EXPECT_FALSE(parse_stream("", ""));
}

TEST(Names, ListsAreComplete) {
    EXPECT_EQ(op_kind_names().size(), kOpKinds);
    EXPECT_EQ(category_names().size(), kCategories);
    EXPECT_EQ(op_kind_names().back(), "update");
}

TEST(Names, AValueOutsideTheEnumerationHasNoName) {
    EXPECT_EQ(name_of(OpKind::count_), "none");
    EXPECT_EQ(name_of(static_cast<Tier>(200)), "none");
}

}  // namespace
}  // namespace headroom
