// `headroom fidelity` with the real engine, on the CPU.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/units.h"
#include "sim/base/scratch_folder.h"
#include "sim/cli/command_under_test.h"

namespace headroom::engine::test {
namespace {

using headroom::test::Outcome;
using headroom::test::run_headroom;
using Json = nlohmann::json;

// Steps of a tenth of a second. The engine refuses the second plan.
constexpr const char* kSuite = R"(hardware = "cpu"
start_seconds = 1
set = ["context=512", "plan.chunk=128", "plan.page=16", "plan.weights_home=device", "plan.page_cache=0",
       "plan.page_copy=batch", "selection.block_reuse=0", "selection.chunk_reuse=0"]

[[plan]]
name = "exact"
scenario = "tiny-cpu"
repeat = true

[[plan]]
name = "refused"
scenario = "tiny-cpu"
set = ["plan.fill_head=true"]

[[plan]]
name = "sparse"
scenario = "tiny-cpu"
set = ["plan.attention={ kind = 'sparse', budget = 4, block = 32, sink = 1, local = 2 }"]
steps = 1
seed = 3
)";

class FidelityRun : public ScratchFolder {
protected:
    void SetUp() override {
        ScratchFolder::SetUp();
        setenv("OMP_NUM_THREADS", "1", 1);
        ASSERT_TRUE(write_file(at("s.toml"), kSuite));
    }
    Outcome run(std::vector<std::string> words) const {
        words.insert(words.begin(),
                     {"fidelity", "s.toml", "-o", "out", "--device", "cpu", "--commit", "c0ffee"});
        return run_headroom(words, folder_);
    }
    std::string text(const std::string& name) const {
        return read_file(at("out/" + name), 64 * headroom::kMiB).value_or("");
    }
    Json table() const { return Json::parse(text("fidelity.json")); }
    bool there(const std::string& name) const { return std::filesystem::exists(at("out/" + name)); }
};

TEST_F(FidelityRun, RunsWhatItPredictedAndGoesOn) {
    const Outcome first = run({});
    EXPECT_EQ(first.code, 5) << first.out << first.err;  // a plan failed; the others have run
    Json j = table();
    ASSERT_EQ(j["plans"].size(), 3u);
    const Json &exact = j["plans"][0], &refused = j["plans"][1], &sparse = j["plans"][2];
    EXPECT_EQ(exact["measured"], true);
    EXPECT_EQ(exact["losses"].size(), 2u);
    EXPECT_LT(exact["losses"][1], exact["losses"][0]);
    EXPECT_EQ(exact["commit"], "c0ffee");
    EXPECT_EQ(refused["measured"], false);
    EXPECT_NE(refused["failure"].get<std::string>().find("plan.fill_head"), std::string::npos)
        << refused.dump();
    EXPECT_EQ(sparse["measured"], true);
    // Without offload of what is selected memory is exact; with it, what the selection made says the traffic.
    for (const Json& f : exact["findings"])
        EXPECT_TRUE(f["group"] != "memory" || f["predicted"] == f["measured"]) << f.dump();
    const Json recorded = Json::parse(text("sparse.recorded.json"));
    const Json& measured = sparse["findings"];
    for (const Json& f : measured)
        EXPECT_TRUE(f["what"] != "pages loaded" ||
                    f["measured"] == recorded["figures"]["traffic"]["loaded_pages"]);
    EXPECT_TRUE(there("sparse.selection.json.gz"));
    EXPECT_FALSE(there("sparse.selection.json"));
    EXPECT_FALSE(there("exact.trace.json.gz"));
    ASSERT_EQ(j["sets"].size(), 1u);
    EXPECT_EQ(j["sets"][0]["repeat_step_ns"].size(), 2u);
    EXPECT_EQ(j["sets"][0]["calibration_not_read"], "on the CPU");

    // What has been run stays; a set of its own repeats the plan again.
    const std::string before = text("exact.run.json.gz");
    const Outcome second = run({"--resume"});
    EXPECT_EQ(second.code, 5) << second.err;
    EXPECT_EQ(text("exact.run.json.gz"), before);
    j = table();
    ASSERT_EQ(j["sets"].size(), 2u);
    EXPECT_EQ(j["sets"][1]["repeat_step_ns"].size(), 2u);
    // What is named is run again.
    (void)run({"--resume", "--only", "sparse", "--keep"});
    EXPECT_EQ(table()["plans"][2]["set"], 3);
    EXPECT_EQ(table()["plans"][0]["set"], 1);
    EXPECT_TRUE(there("sparse.trace.json.gz"));

    EXPECT_EQ(run({}).code, 2);  // the folder holds runs
}

TEST_F(FidelityRun, LeavesOutWhatTheTimeDoesNotReachFor) {
    const Outcome o = run({"--budget-seconds", "0.01"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("exact: left out: it would take "), o.out.npos) << o.out;
    EXPECT_FALSE(there("exact.run.json.gz"));
    EXPECT_TRUE(there("exact.prediction.json"));
    EXPECT_NE(text("fidelity.md").find("left out"), std::string::npos);
}

TEST_F(FidelityRun, HandsItsOptionsOn) {
    (void)run({"--only", "exact", "--run-option=--learning-rate=0"});
    const Json j = table();
    EXPECT_EQ(j["plans"][0]["losses"][0], j["plans"][0]["losses"][1]);
}

TEST_F(FidelityRun, CtrlCLeavesFinishedRows) {
    std::array<int, 2> out{};
    ASSERT_EQ(pipe(out.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (chdir(folder_.c_str()) != 0) _exit(126);
        setenv("HEADROOM_DATA", HEADROOM_SOURCE_DIR, 1);
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execl(HEADROOM_COMMAND, HEADROOM_COMMAND, "fidelity", "s.toml", "-o", "out", "--device", "cpu",
              static_cast<char*>(nullptr));
        _exit(127);
    }
    close(out[1]);
    std::string said;
    char piece[4096];
    bool sent = false;
    for (ssize_t n = 0; (n = read(out[0], piece, sizeof piece)) > 0;) {
        said.append(piece, static_cast<size_t>(n));
        if (!sent && said.find("exact: predicted") != said.npos) {
            kill(child, SIGINT);
            sent = true;
        }
    }
    close(out[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(sent) << said;
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130) << said;
    EXPECT_EQ(table()["plans"][0]["measured"], true);
    EXPECT_FALSE(there("sparse.run.json.gz"));
}

}  // namespace
}  // namespace headroom::engine::test
