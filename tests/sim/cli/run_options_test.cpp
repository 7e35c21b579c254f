// The options of a run: what `headroom run` parsed says the same to the engine's program.
#include "cli/run_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace headroom::cli {
namespace {

// Parses and says the words again.
std::vector<std::string> said_again(std::vector<std::string> words, RunOptions& options) {
    CLI::App app;
    add_run_options(app, options);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(words);
    return words_of(app);
}

TEST(RunOptions, WordsSayAgainWhatWasGivenAndNothingElse) {
    RunOptions first, second;
    const std::vector<std::string> words =
        said_again({"--steps=3", "p.json", "--learning-rate", "1e-05", "-o", "t.trace.json.gz", "--weights",
                    "a folder", "--tokens=x"},
                   first);
    EXPECT_EQ(said_again(words, second), words);
    EXPECT_EQ(std::count(words.begin(), words.end(), "--seed"), 0);
    EXPECT_EQ(second.plan, "p.json");
    EXPECT_EQ(second.steps, 3);
    EXPECT_EQ(second.learning_rate, 1e-5);
    EXPECT_EQ(second.output, "t.trace.json.gz");
    EXPECT_EQ(second.weights, "a folder");
    EXPECT_EQ(second.tokens, "x");
}

TEST(RunOptions, APlanWhoseNameLooksLikeAnOptionStaysAPlan) {
    RunOptions options;
    EXPECT_EQ(said_again({"--steps", "2", "--", "-p.json"}, options).back(), "-p.json");
    EXPECT_EQ(options.plan, "-p.json");
    const std::vector<std::string> words = said_again({"--", "-p.json"}, options);
    RunOptions again;
    EXPECT_EQ(said_again(words, again), words);
    EXPECT_EQ(again.plan, "-p.json");
}

}  // namespace
}  // namespace headroom::cli
