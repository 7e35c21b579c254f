#include "gui/model/run_settings.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <QTemporaryDir>

#include "base/file.h"
#include "cli/run_options.h"

namespace headroom::gui::test {
namespace {

// As the engine reads its command line.
cli::RunOptions parsed(const QStringList& words) {
    cli::RunOptions options;
    CLI::App app;
    cli::add_run_options(*app.add_subcommand("run", ""), options);
    std::vector<std::string> reversed;
    for (const QString& w : words) reversed.insert(reversed.begin(), w.toStdString());
    app.parse(reversed);
    return options;
}

std::vector<Obstacle> obstacles(const RunSettings& s, const RunNeeds& needs = {}, const Plan* plan = nullptr,
                                const std::string& engine = "/bin/sh") {
    return obstacles_of(plan, needs, s, engine);
}
bool tells(const std::vector<Obstacle>& found, bool stops, const char* part) {
    for (const Obstacle& o : found) {
        if (o.stops == stops && o.text.contains(part)) return true;
    }
    return false;
}

TEST(RunSettings, TheCommandLineIsWhatTheEngineReads) {
    EXPECT_EQ(words_of({}, "plan.json"),
              (QStringList{"run", "--device=cpu", "--steps=3", "--seed=0", "--json", "--", "plan.json"}));
    RunSettings s;
    s.device = "cuda";
    s.steps = 7;
    s.seed = 11;
    s.learning_rate = 2.5e-5;
    s.output = "-odd name.trace.json.gz";
    s.weights = "w/model.safetensors.index.json";
    s.tokens = "t.npy";
    s.save_weights = "trained";
    s.checkpoint = "kept";
    const cli::RunOptions o = parsed(words_of(s, "-plan.json"));
    EXPECT_EQ(o.plan, "-plan.json");
    EXPECT_EQ(o.device, "cuda");
    EXPECT_EQ(o.steps, 7);
    EXPECT_EQ(o.seed, 11);
    EXPECT_EQ(o.learning_rate, 2.5e-5);
    EXPECT_EQ(o.output, "-odd name.trace.json.gz");
    EXPECT_EQ(o.weights, "w/model.safetensors.index.json");
    EXPECT_EQ(o.tokens, "t.npy");
    EXPECT_EQ(o.save_weights, "trained");
    EXPECT_EQ(o.checkpoint, "kept");
    EXPECT_TRUE(o.json);
    s.weights.clear();
    s.resume = "kept";
    EXPECT_EQ(parsed(words_of(s, "p")).resume, "kept");
    EXPECT_EQ(parsed(words_of(s, "p")).record_selection, "");
    s.record_selection = true;
    EXPECT_EQ(parsed(words_of(s, "p")).record_selection, "-odd name.selection.json");
}

TEST(RunSettings, TheCpuIsAlwaysThere) {
    EXPECT_EQ(run_devices().back(), "cpu");
    EXPECT_GT(host_memory_bytes(), kGiB / 4);
}

TEST(RunSettings, WhatIsMissingStopsARun) {
    const QTemporaryDir folder;
    RunSettings s;
    EXPECT_TRUE(tells(obstacles(s), true, "Open a scenario"));
    EXPECT_TRUE(tells(obstacles(s), true, "Name a file"));
    s.output = folder.filePath("t.json");
    EXPECT_TRUE(tells(obstacles(s), true, ".trace.json.gz"));
    s.output = folder.filePath("none/t.trace.json.gz");
    EXPECT_TRUE(tells(obstacles(s), true, "There is no folder"));
    s.output = folder.filePath("t.trace.json.gz");
    const Plan plan;
    EXPECT_EQ(obstacles(s, {}, &plan), std::vector<Obstacle>{});
    // In the words of the command.
    EXPECT_TRUE(tells(obstacles(s, {}, &plan, "/none/headroom-engine"), true, "scripts/deps engine"));
    EXPECT_TRUE(tells(obstacles(s, {}, &plan, "no-such-engine"), true, "headroom-engine: No such file"));
    EXPECT_EQ(obstacles(s, {}, &plan, "sh"), std::vector<Obstacle>{}) << "found in PATH";
}

TEST(RunSettings, WhatIsOnlyWorthKnowingDoesNot) {
    const QTemporaryDir folder;
    RunSettings s;
    s.output = folder.filePath("t.trace.json.gz");
    Plan plan;
    EXPECT_TRUE(tells(obstacles(s, {host_memory_bytes() + 1, 1}, &plan), false, "the engine will refuse it"));
    EXPECT_EQ(obstacles(s, {host_memory_bytes(), 1}, &plan).size(), 0u);
    EXPECT_TRUE(tells(obstacles(s, {1, 1e15}, &plan), false, "2 h 47 min"));
    s.device = "cuda";
    EXPECT_EQ(obstacles(s, {host_memory_bytes() + 1, 1e15}, &plan).size(), 0u);
    plan.gpus = 4;
    EXPECT_TRUE(tells(obstacles(s, {}, &plan), false, "4 GPUs"));
    ASSERT_TRUE(write_file(s.output.toStdString(), "x"));
    EXPECT_TRUE(tells(obstacles(s, {}, &plan), false, "will be replaced"));
}

}  // namespace
}  // namespace headroom::gui::test
