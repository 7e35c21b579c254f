#include "run/settings.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace headroom::engine {
namespace {

cli::RunOptions some_options() {
    cli::RunOptions o;
    o.seed = 7;
    o.steps = 10;
    o.learning_rate = 0.1 + 0.2;  // no short text says it
    o.schedule = "cosine";
    o.tokens = "ids.npy";
    return o;
}

TEST(Settings, ComeBackThroughTextBitForBit) {
    const cli::RunOptions before = some_options();
    const auto recorded = nlohmann::ordered_json::parse(settings_of(before).dump());
    cli::RunOptions now;
    now.steps = 3;
    const Result<cli::RunOptions> o = resumed_options(now, recorded, "c.json");
    ASSERT_TRUE(o) << o.error().text();
    EXPECT_EQ(o->seed, 7);
    EXPECT_EQ(o->learning_rate, before.learning_rate);
    EXPECT_EQ(o->schedule, "cosine");
    EXPECT_EQ(o->total_steps, 10);  // of the run that began, not of the steps that follow
    EXPECT_EQ(o->steps, 3);
    EXPECT_EQ(o->tokens, (std::filesystem::current_path() / "ids.npy").string());
}

TEST(Settings, WhatIsGivenMustBeWhatIsRecorded) {
    const auto recorded = settings_of(some_options());
    cli::RunOptions now = some_options();
    now.given = {"seed", "schedule", "tokens"};
    now.tokens = "moved.npy";
    const Result<cli::RunOptions> same = resumed_options(now, recorded, "c.json");
    ASSERT_TRUE(same) << same.error().text();
    EXPECT_EQ(same->tokens, "moved.npy");
    now.seed = 8;
    EXPECT_EQ(resumed_options(now, recorded, "c.json").error().text(),
              "--seed: 8; allowed: 7, as c.json has it, or the option left out");
    now.given.erase("seed");
    EXPECT_EQ(resumed_options(now, recorded, "c.json")->seed, 7);
}

TEST(Settings, WhatIsMissingOrOfAnotherTypeIsNamed) {
    auto recorded = settings_of(some_options());
    recorded["beta2"] = "high";
    EXPECT_EQ(resumed_options({}, recorded, "c.json").error().where, "c.json, key 'settings.beta2'");
    recorded.erase("beta2");
    EXPECT_EQ(resumed_options({}, recorded, "c.json").error().where, "c.json, key 'settings.beta2'");
}

}  // namespace
}  // namespace headroom::engine
