// Golden transcripts: golden/*.txt holds commands ("$ headroom ...") each followed by all that it prints and,
// unless it is 0, its exit code. Here every one is run again and must print the same. scripts/update-golden
// rewrites them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/units.h"
#include "command_under_test.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = HEADROOM_SOURCE_DIR;
const fs::path kGolden = kSource / "tests/sim/cli/golden";

std::set<std::string> stems(const fs::path& folder, const std::string& ending) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ending) names.insert(entry.path().stem().string());
    }
    return names;
}

std::vector<std::string> commands_in(const std::string& transcript) {
    std::vector<std::string> commands;
    std::istringstream in(transcript);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("$ headroom")) commands.push_back(line.substr(2));
    }
    return commands;
}

// One folder for the commands of a transcript, which may leave files for each other.
std::string played(const std::vector<std::string>& commands, const std::string& name) {
    const fs::path folder =
        fs::temp_directory_path() / ("headroom-" + name + "-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    std::string text;
    for (const std::string& command : commands) {
        std::vector<std::string> words = words_of(command);
        words.erase(words.begin());
        const Outcome o = run_headroom(words, folder);
        text += (text.empty() ? "$ " : "\n$ ") + command + "\n" + o.out + o.err;
        if (o.code != 0) text += "[exit " + std::to_string(o.code) + "]\n";
    }
    fs::remove_all(folder);
    // Paths of this machine are not part of what is expected.
    const std::string source = kSource.string();
    for (size_t at = text.find(source); at != text.npos; at = text.find(source, at))
        text.replace(at, source.size(), "SOURCE");
    return text;
}

std::string first_difference(const std::string& expected, const std::string& found) {
    std::istringstream a(expected), b(found);
    std::string one, other;
    for (int line = 1;; ++line) {
        const bool more_a = static_cast<bool>(std::getline(a, one)),
                   more_b = static_cast<bool>(std::getline(b, other));
        if (!more_a && !more_b) return "";
        if (!more_a) one = "(end)";
        if (!more_b) other = "(end)";
        if (one != other) {
            return "line " + std::to_string(line) + "\n  golden: " + one + "\n  now:    " + other;
        }
    }
}

class Transcript : public ::testing::TestWithParam<std::string> {};

TEST_P(Transcript, IsUnchanged) {
    const fs::path file = kGolden / (GetParam() + ".txt");
    const auto golden = read_file(file, kMiB);
    ASSERT_TRUE(golden) << golden.error().text();
    const std::vector<std::string> commands = commands_in(*golden);
    ASSERT_FALSE(commands.empty());
    const std::string now = played(commands, GetParam());
    if (std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(write_file(file, now));
        return;
    }
    EXPECT_EQ(first_difference(*golden, now), "") << "if this is meant: scripts/update-golden";
}

INSTANTIATE_TEST_SUITE_P(Golden, Transcript, ::testing::ValuesIn([] {
                             const std::set<std::string> names = stems(kGolden, ".txt");
                             return std::vector<std::string>(names.begin(), names.end());
                         }()),
                         [](const auto& test) {
                             std::string name = test.param;
                             for (char& c : name) {
                                 if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                             }
                             return name;
                         });

TEST(Transcripts, EveryScenarioHasOne) {
    const std::set<std::string> scenarios = stems(kSource / "scenarios", ".toml"),
                                golden = stems(kGolden, ".txt");
    for (const std::string& name : scenarios) {
        const bool there = golden.contains(name);
        EXPECT_TRUE(there) << name << ": create golden/" << name << ".txt with the line '$ headroom plan "
                           << name << " -q' and run scripts/update-golden";
    }
}

}  // namespace
}  // namespace headroom::test
