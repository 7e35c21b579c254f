#include "plan/names.h"

#include <gtest/gtest.h>

#include <set>

#include "plan/decision_text.h"

namespace headroom {
namespace {

template <class E>
class Names : public testing::Test {};
using Enums = testing::Types<Optimizer, Home, AttentionOutputs, Activations, GradientPages, PageCopy>;
TYPED_TEST_SUITE(Names, Enums);

TYPED_TEST(Names, EveryValueHasItsOwnNameThatReadsBack) {
    std::set<std::string> seen;
    for (const auto& [value, text] : names_of<TypeParam>()) {
        EXPECT_TRUE(seen.insert(std::string(text)).second) << text;
        EXPECT_EQ(name_of(value), text);
        EXPECT_EQ(parse_name<TypeParam>(text, "here").value(), value);
        EXPECT_EQ(static_cast<size_t>(value) + 1, seen.size());  // in the order of the enumeration
    }
}

TEST(ParseName, NamesTheNearest) {
    const auto r = parse_name<Activations>("checkpoint_hst", "a.toml:3");
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().text(),
              "a.toml:3: 'checkpoint_hst' (did you mean 'checkpoint_host'?); allowed: 'keep', "
              "'checkpoint_device' or "
              "'checkpoint_host'");
    EXPECT_EQ(parse_name<Home>("xxxxxxxx", "").error().found, "'xxxxxxxx'");
}

TEST(DecisionTexts, AttentionSaysItsLimitWhereItHasOne) {
    Decisions dense, sparse, limited;
    sparse.attention.sparse = limited.attention.sparse = true;
    limited.attention.waiting = 1000;
    EXPECT_EQ(changes_between(dense, sparse), "attention dense -> sparse(64 pages, block 128)");
    EXPECT_EQ(changes_between(sparse, limited),
              "attention sparse(64 pages, block 128) -> sparse(64 pages, block 128, 1000 waiting)");
}

TEST(DecisionKeys, AreUniqueAndHoldTheTrainedResultKeys) {
    const std::set<std::string> keys(decision_keys().begin(), decision_keys().end());
    EXPECT_EQ(keys.size(), decision_keys().size());
    for (const std::string& key : trained_result_keys()) EXPECT_TRUE(keys.contains(key)) << key;
}

}  // namespace
}  // namespace headroom
