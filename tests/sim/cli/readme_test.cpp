// What the README shows is what the command prints. A block is marked by the line
//     <!-- output: headroom plan scenarios/NAME.toml -->
// before its fence. To renew one: run the line, paste what it prints.
#include <gtest/gtest.h>

#include "base/file.h"
#include "sim/cli/command_under_test.h"

namespace headroom::test {
namespace {

struct Block {
    std::string line, printed;
};

std::vector<Block> blocks_of(const std::string& readme) {
    constexpr std::string_view kMark = "<!-- output: ", kEnd = " -->\n```\n";
    std::vector<Block> blocks;
    for (size_t at = readme.find(kMark); at != readme.npos; at = readme.find(kMark, at + 1)) {
        const size_t line = at + kMark.size(), text = readme.find(kEnd, line);
        if (text == readme.npos) break;
        const size_t begin = text + kEnd.size(), end = readme.find("```\n", begin);
        blocks.push_back({readme.substr(line, text - line), readme.substr(begin, end - begin)});
    }
    return blocks;
}

TEST(Readme, ShowsWhatTheCommandPrints) {
    const std::string root = HEADROOM_SOURCE_DIR;
    const Result<std::string> readme = read_file(root + "/README.md", 1 << 20);
    ASSERT_TRUE(readme);
    const std::vector<Block> blocks = blocks_of(*readme);
    ASSERT_FALSE(blocks.empty());
    for (const Block& block : blocks) {
        std::vector<std::string> words = words_of(block.line);
        ASSERT_EQ(words.at(0), "headroom");
        words.erase(words.begin());
        const Outcome run = run_headroom(words, root);
        EXPECT_EQ(run.out, block.printed) << block.line;
    }
}

}  // namespace
}  // namespace headroom::test
