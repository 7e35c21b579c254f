#include <gtest/gtest.h>

#include <vector>

#include "base/text.h"

namespace headroom {
namespace {

const std::vector<std::string> kKeys{"chunk", "page", "attention", "hardware"};

TEST(Nearest, FindsSlipsOfTheHand) {
    EXPECT_EQ(nearest("chnk", kKeys), "chunk");    // left out
    EXPECT_EQ(nearest("chunkk", kKeys), "chunk");  // twice
    EXPECT_EQ(nearest("chumk", kKeys), "chunk");   // another
    EXPECT_EQ(nearest("chukn", kKeys), "chunk");   // swapped, one slip
    EXPECT_EQ(nearest("atention", kKeys), "attention");
    EXPECT_EQ(nearest("page", kKeys), "page");
}

TEST(Nearest, IsEmptyPastAThirdOfTheName) {
    EXPECT_EQ(nearest("abcdef", std::vector<std::string>{"abcdxy"}), "abcdxy");  // 2 of 6
    EXPECT_EQ(nearest("abcdef", std::vector<std::string>{"abcxyz"}), "");        // 3 of 6
    EXPECT_EQ(nearest("", kKeys), "");
    EXPECT_EQ(nearest("chunk", {}), "");
}

TEST(Nearest, TakesTheFirstOfEquals) {
    EXPECT_EQ(nearest("fp17", std::vector<std::string>{"fp16", "fp18"}), "fp16");
    EXPECT_EQ(nearest("host", std::vector<std::string>{"hosts", "host"}), "host");
}

TEST(Nearest, IgnoresAbsurdNames) {
    EXPECT_EQ(nearest(std::string(10000000, 'a'), kKeys), "");
}

TEST(OneOf, ListsNames) {
    EXPECT_EQ(one_of(std::vector<std::string>{"a", "b", "c"}), "'a', 'b' or 'c'");
    EXPECT_EQ(one_of(std::vector<std::string>{"a", "b"}), "'a' or 'b'");
    EXPECT_EQ(one_of(std::vector<std::string>{"a"}), "'a'");
    EXPECT_EQ(one_of({}), "");
}

}  // namespace
}  // namespace headroom
