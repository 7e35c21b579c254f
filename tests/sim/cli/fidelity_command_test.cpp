// `headroom fidelity` without an engine: what it refuses, what it predicts, and recorded runs predicted
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/fidelity_folder.h"
#include "command_under_test.h"
#include "sim/base/scratch_folder.h"

namespace headroom::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kSuite = R"(title = "Recorded runs"
hardware = "h200-sxm-pcie5"
set = ["plan.weights_home=device"]

[[plan]]
name = "exact-8k"
model = "Qwen2.5-7B"
set = ["context=8Ki", "plan.chunk=4096", "plan.kv=device", "plan.kv_gradients=device"]
repeat = true

[[plan]]
name = "exact-64k"
model = "Qwen2.5-7B"
set = ["context=64Ki", "plan.chunk=4096"]

[[ladder]]
name = "whole"
model = "Qwen2.5-0.5B"
set = ["plan.strategy=whole-sequence", "plan.mlp_tile=0", "budget.device=16GiB"]
rungs = [0, 0.01]
)";

class FidelityCommand : public ScratchFolder {
protected:
    void SetUp() override {
        ScratchFolder::SetUp();
        ASSERT_TRUE(write_file(at("suite.toml"), kSuite));
    }
    Outcome run(std::vector<std::string> words) const {
        words.insert(words.begin(), "fidelity");
        return run_headroom(words, folder_);
    }
    std::string text(const std::string& name) const { return read_file(at(name), kMiB * 64).value_or(""); }
    // A recorded run of the engine, as the suite's run of that name.
    void keep(const std::string& trace, const std::string& name) const {
        const Result<Timeline> t =
            read_timeline(std::string(HEADROOM_SOURCE_DIR) + "/traces/" + trace + ".trace.json.gz");
        ASSERT_TRUE(t) << t.error().text();
        fidelity::RunSummary s;
        s.name = name;
        s.set = 1;
        fidelity::take_timeline(s, *t);
        s.pinned_bytes = 0;
        const cli::FidelityFolder folder(at("out"));
        ASSERT_TRUE(folder.make());
        ASSERT_TRUE(folder.write(s));
    }
};

TEST_F(FidelityCommand, RefusesBadInputByLineAndKey) {
    ASSERT_TRUE(
        write_file(at("bad.toml"), "hardware = \"h200-sxm-pcie5\"\n[[plan]]\nname = \"a\"\nmodl = \"x\"\n"));
    Outcome o = run({"bad.toml", "-o", "out"});
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find("bad.toml"), o.err.npos) << o.err;
    EXPECT_NE(o.err.find("key 'plan[0]"), o.err.npos) << o.err;
    o = run({"suite.toml", "-o", "out", "--only", "exact-8"});
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find("did you mean 'exact-8k'?"), o.err.npos) << o.err;
    o = run({"none.toml", "-o", "out"});
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find("none.toml"), o.err.npos) << o.err;
    EXPECT_EQ(run({"suite.toml"}).code, 2);
    EXPECT_EQ(run({"suite.toml", "-o", "out", "--replay", "--resume"}).code, 2);
    EXPECT_FALSE(std::filesystem::exists(at("out")));
}

TEST_F(FidelityCommand, PredictsBeforeAnythingRuns) {
    const Outcome o = run({"suite.toml", "-o", "out", "--predict", "--commit", "abc"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("ladder whole: fits up to"), o.out.npos) << o.out;
    EXPECT_NE(o.out.find("to run: about"), o.out.npos) << o.out;
    const Json p = Json::parse(text("out/exact-8k.prediction.json"));
    EXPECT_EQ(p["commit"], "abc");
    EXPECT_EQ(p["fits"], true);
    EXPECT_GT(p["figures"]["step_ns"], 0);
    const Result<Plan> plan = read_plan(at("out/exact-8k.plan.json"));
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_EQ(plan->context, Tokens(8192));
    EXPECT_EQ(p["plan_hash"], plan_hash(*plan));
    EXPECT_FALSE(cli::FidelityFolder(at("out")).holds_runs());

    // The same question: the prediction stays as it was written. Another program's is made again.
    const std::string before = text("out/exact-8k.prediction.json");
    ASSERT_TRUE(write_file(at("out/exact-8k.prediction.json"), before + " "));
    EXPECT_EQ(run({"suite.toml", "-o", "out", "--predict", "--resume", "--commit", "abc"}).code, 0);
    EXPECT_EQ(text("out/exact-8k.prediction.json"), before + " ");
    EXPECT_EQ(run({"suite.toml", "-o", "out", "--predict", "--resume", "--commit", "abd"}).code, 0);
    EXPECT_EQ(Json::parse(text("out/exact-8k.prediction.json"))["commit"], "abd");
}

// The largest context of the ladder fits its budget, and the next rung does not.
// The same questions about another machine: a shipped one, or a file that somebody calibrated.
TEST_F(FidelityCommand, AsksAboutAnotherMachine) {
    const std::string shipped =
        read_file(std::string(HEADROOM_SOURCE_DIR) + "/models/hardware/h100-sxm-pcie5.toml", kMiB).value();
    ASSERT_TRUE(write_file(at("mine.toml"), shipped));
    for (const auto& [machine, name] :
         {std::pair{"h100-sxm-pcie5", "h100-sxm-pcie5"}, {"mine.toml", "mine"}}) {
        const Outcome o = run({"suite.toml", "-o", std::string("of-") + name, "--predict", "--only",
                               "exact-8k", "--hardware", machine});
        ASSERT_EQ(o.code, 0) << o.err;
        EXPECT_EQ(Json::parse(text(std::string("of-") + name + "/exact-8k.prediction.json"))["hardware"],
                  name);
    }
    for (const char* machine : {"h201", "no.toml"}) {
        const Outcome o = run({"suite.toml", "-o", "none", "--predict", "--hardware", machine});
        EXPECT_EQ(o.code, 2);
        EXPECT_NE(o.err.find(machine), o.err.npos) << o.err;
        EXPECT_FALSE(std::filesystem::exists(at("none")));
    }
    // A run of one machine, predicted from the file of another.
    keep("h200-2026-11-29/qwen2.5-7b-8k-exact", "exact-8k");
    const auto predicted = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"suite.toml", "-o", "out", "--replay"});
        run(more);
        return Json::parse(text("out/fidelity.json"))["plans"][0]["predicted_step_ns"].get<int64_t>();
    };
    const int64_t own = predicted({});
    EXPECT_EQ(predicted({"--hardware", "h200-sxm-pcie5"}), own);
    EXPECT_NE(predicted({"--hardware", "mine.toml"}), own);
}

TEST_F(FidelityCommand, LadderStandsAroundTheLimit) {
    ASSERT_EQ(run({"suite.toml", "-o", "out", "--predict", "--only", "whole"}).code, 0);
    std::vector<std::pair<int64_t, bool>> rungs;
    for (const auto& file : std::filesystem::directory_iterator(at("out"))) {
        const std::string name = file.path().filename().string();
        ASSERT_TRUE(name.starts_with("whole@")) << name;
        if (!name.ends_with(".prediction.json")) continue;
        rungs.emplace_back(std::stoll(name.substr(6)),
                           Json::parse(read_file(file.path(), kMiB).value())["fits"]);
    }
    std::sort(rungs.begin(), rungs.end());
    ASSERT_EQ(rungs.size(), 2u);
    EXPECT_TRUE(rungs[0].second);
    EXPECT_FALSE(rungs[1].second);
    EXPECT_LT(static_cast<double>(rungs[1].first), 1.01 * static_cast<double>(rungs[0].first) + 128);
}

TEST_F(FidelityCommand, PredictsRecordedRunsAgain) {
    keep("h200-2026-11-29/qwen2.5-7b-8k-exact", "exact-8k");
    keep("h200-2026-11-29/qwen2.5-7b-64k-exact", "exact-64k");
    const Outcome o = run({"suite.toml", "-o", "out", "--replay"});
    EXPECT_TRUE(o.code == 0 || o.code == 4) << o.err;
    EXPECT_NE(o.out.find("wrote out/fidelity.md"), o.out.npos) << o.out;
    const Json j = Json::parse(text("out/fidelity.json"));
    ASSERT_EQ(j["plans"].size(), 2u);
    // Seconds as traces/README.md has them, by the host's clock.
    EXPECT_NEAR(j["plans"][0]["measured_step_ns"].get<double>(), 0.889e9, 0.005 * 0.889e9);
    EXPECT_NEAR(j["plans"][1]["measured_step_ns"].get<double>(), 13.39e9, 0.005 * 13.39e9);
    EXPECT_LT(std::abs(j["plans"][0]["step_error"].get<double>()), 0.08);
    EXPECT_NE(text("out/fidelity.md").find("| exact-64k |"), std::string::npos);
    EXPECT_TRUE(text("out/steps.svg").starts_with("<svg"));
    EXPECT_TRUE(text("out/errors.svg").starts_with("<svg"));
    // Runs that are there are not thrown away by starting anew.
    const Outcome again = run({"suite.toml", "-o", "out", "--predict"});
    EXPECT_EQ(again.code, 2);
    EXPECT_NE(again.err.find("holds runs already"), again.err.npos) << again.err;
}

TEST_F(FidelityCommand, NamesTheFileOfARunThatCannotBeRead) {
    keep("h200-2026-11-29/qwen2.5-7b-8k-exact", "exact-8k");
    ASSERT_TRUE(write_file(at("out/exact-8k.run.json.gz"), gzip("{\"schema_version\": 1}")));
    const Outcome o = run({"suite.toml", "-o", "out", "--replay"});
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find("exact-8k.run.json.gz"), o.err.npos) << o.err;
}

}  // namespace
}  // namespace headroom::test
