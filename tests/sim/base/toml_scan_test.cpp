#include "base/toml_scan.h"

#include <gtest/gtest.h>

#include "base/toml.h"

namespace headroom {
namespace {

std::string repeated(std::string_view part, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += part;
    return out;
}

TEST(TomlScan, DotsOfNumbersStringsAndCommentsAreNoKeyParts) {
    for (const std::string& text :
         {"a = [" + repeated("0.5, ", 100) + "1.5]\n",
          "# " + repeated(".", 100) + "\na = 1 # " + repeated(".", 100) + "\n",
          "a = \"" + repeated("x.", 100) + "\"\nb = '" + repeated("x.", 100) + "'\n",
          "a = \"\"\"\n\" '" + repeated("x.", 100) + "\\\" \"\"\"\"\"\nb = '''" + repeated("\".", 99) +
              "'''\n"}) {
        EXPECT_EQ(line_of_deep_key(text, 16), 0) << text;
        EXPECT_TRUE(parse_toml(text, "")) << text;  // the parser agrees where the strings end
    }
}

TEST(TomlScan, KeyPartsAreCountedThroughQuotes) {
    EXPECT_EQ(line_of_deep_key("x = 1\n" + repeated("\"=\".", 16) + "a = 1\n", 16), 2);
    EXPECT_EQ(line_of_deep_key(repeated("\"=\".", 15) + "a = 1\n", 16), 0);
}

TEST(TomlScan, LinesInsideStringsCount) {
    EXPECT_EQ(line_of_deep_key("a = '''\n\n'''\nb = \"\"\"\\\n\"\"\"\na.b.c = 1\n", 2), 6);
}

}  // namespace
}  // namespace headroom
