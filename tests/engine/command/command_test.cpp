// `headroom run` and the engine's program: exit codes, what they print, and Ctrl-C.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/run/plan_files.h"
#include "run/checkpoint.h"
#include "sim/cli/command_under_test.h"

namespace headroom::engine::test {
namespace {

using headroom::test::Outcome;
using headroom::test::run_headroom;

class EngineCommand : public TrainingFolder {
protected:
    void SetUp() override {
        TrainingFolder::SetUp();
        setenv("OMP_NUM_THREADS", "1", 1);
        options(training_plan());
    }
    Outcome run(std::vector<std::string> words) const {
        words.insert(words.begin(), {"run", "plan.json", "--device", "cpu"});
        return run_headroom(words, folder_);
    }
    std::vector<std::string> in_folder() const {
        std::vector<std::string> all = names();
        std::sort(all.begin(), all.end());
        return all;
    }
    // Starts the program, sends it SIGINT once `sign` was said `times` times; its exit code, 128 + signal.
    int interrupted_after(const std::string& program, std::vector<std::string> words, const std::string& sign,
                          int times) const {
        std::array<int, 2> out{};
        if (pipe(out.data()) != 0) return -1;
        words.insert(words.begin(), program);
        std::vector<char*> arguments;
        for (std::string& w : words) arguments.push_back(w.data());
        arguments.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            if (chdir(folder_.c_str()) != 0) _exit(126);
            dup2(out[1], STDOUT_FILENO);
            const int err = ::open(at("err").c_str(), O_WRONLY | O_CREAT, 0600);
            dup2(err, STDERR_FILENO);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
        close(out[1]);
        std::string said;
        char piece[4096];
        bool sent = false;
        for (ssize_t n = 0; (n = read(out[0], piece, sizeof piece)) > 0;) {
            said.append(piece, static_cast<size_t>(n));
            int told = 0;
            for (size_t i = said.find(sign); i != said.npos; i = said.find(sign, i + 1)) ++told;
            if (told >= times && !sent) {
                kill(child, SIGINT);
                sent = true;
            }
        }
        close(out[0]);
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(sent) << said << bytes("err");
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
};

TEST_F(EngineCommand, SaysStepsAsTextAndAsJsonLines) {
    const Outcome text =
        run({"--steps", "2", "--save-weights", "w", "--checkpoint=c", "-o", "t.trace.json.gz"});
    EXPECT_EQ(text.code, 0) << text.err;
    for (const char* part : {"operations a step", "step 1: loss ", "step 2: loss ", "gradient norm ",
                             " tokens/s\n", "wrote the checkpoint c after step 2", "wrote the weights to w\n",
                             "wrote t.trace.json.gz", "2 steps: loss "})
        EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
    EXPECT_EQ(text.out.find('{'), std::string::npos) << text.out;

    const Outcome json = run({"--steps", "2", "--json"});
    EXPECT_EQ(json.code, 0) << json.err;
    std::istringstream lines(json.out);
    std::vector<std::string> events;
    for (std::string line; std::getline(lines, line);) {
        const auto event = nlohmann::json::parse(line, nullptr, false);
        ASSERT_TRUE(event.is_object()) << line;
        if (event["event"] != "progress") events.push_back(event["event"]);
    }
    EXPECT_EQ(events, (std::vector<std::string>{"start", "step", "step", "end"}));
}

TEST_F(EngineCommand, ExitCodesAreThoseOfTheDesign) {
    const Outcome file = run({"--tokens", "none"});
    EXPECT_EQ(file.code, 2);
    EXPECT_EQ(file.err, "headroom-engine: none: does not exist; allowed: a file that can be read\n");
    EXPECT_EQ(run({"--checkpoint-every", "2"}).code, 2);
    EXPECT_EQ(run({"--resume", "c", "--weights", "w"}).code, 2);
    EXPECT_EQ(run({"--beta1", "1"}).code, 2);
    const Outcome disk = run({"-o", "/dev/full"});
    EXPECT_EQ(disk.code, 5);
    EXPECT_NE(disk.err.find("/dev/full"), std::string::npos) << disk.err;
    EXPECT_EQ(in_folder(), std::vector<std::string>{"plan.json"});
    Plan offloaded = training_plan();
    offloaded.decisions.weights_home = Home::ranks;
    options(offloaded);
    EXPECT_EQ(run({}).code, 2);
}

TEST_F(EngineCommand, APlanLargerThanTheMachineIsToldBeforeAnythingIsAllocated) {
    Plan plan = training_plan();
    plan.model.hidden = 16384;
    plan.model.intermediate = int64_t{1} << 20;
    options(plan);
    const Outcome o = run({"--save-weights", "w"});
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_NE(o.err.find("bytes of device memory, the largest of it '"), std::string::npos) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(in_folder(), std::vector<std::string>{"plan.json"});
}

// A step of minutes is not trained for a timeline that cannot be written, nor for one that would replace its
// plan.
TEST_F(EngineCommand, OutputsAreLookedAtBeforeAStepIsTrained) {
    for (const char* output : {"missing/t.trace.json.gz", "plan.json", "./plan.json"}) {
        const Outcome o = run({"--steps", "100000", "-o", output});
        EXPECT_EQ(o.code, 2) << output;
        EXPECT_NE(o.err.find(output), std::string::npos) << o.err;
        EXPECT_EQ(o.out, "") << output;
        EXPECT_EQ(in_folder(), std::vector<std::string>{"plan.json"});
    }
    EXPECT_TRUE(read_plan(at("plan.json")));
}

TEST_F(EngineCommand, PagesOnDiskHaveAFileThatNobodySees) {
    options(training_plan());
    const Outcome host = run({"--steps", "2"});
    Plan plan = training_plan();
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = {0, 0, 3};
    options(plan);
    std::filesystem::create_directory(at("d"));
    for (const std::vector<std::string>& where :
         {std::vector<std::string>{}, {"--disk", "d"}, {"-o", "d/t.trace.json.gz"}}) {
        std::vector<std::string> words{"--steps", "2"};
        words.insert(words.end(), where.begin(), where.end());
        const Outcome o = run(words);
        EXPECT_EQ(o.code, 0) << o.err;
        EXPECT_NE(o.out.find(" on disk"), std::string::npos) << o.out;
        const auto losses = [](const std::string& out) {
            const size_t at = out.find("2 steps: loss ");
            return out.substr(at, out.find(", ", out.find("gradient norm", at)) - at);
        };
        EXPECT_EQ(losses(o.out), losses(host.out));
    }
    EXPECT_EQ(in_folder(), (std::vector<std::string>{"d", "plan.json"}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(at("d")), {}), 1);  // the timeline

    const Outcome none = run({"--disk", "none"});
    EXPECT_EQ(none.code, 2);
    EXPECT_EQ(none.err,
              "headroom-engine: --disk: 'none' is no folder; allowed: a folder that can be written\n");
    EXPECT_EQ(run({"--disk", "/proc"}).code, 2);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{8192, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Outcome limit = run({"--disk", "d"});
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(limit.code, 5);
    EXPECT_NE(limit.err.find("the folder for pages on disk, 'd': needs "), std::string::npos) << limit.err;
    EXPECT_NE(limit.err.find(" bytes; allowed: 8192 bytes, the limit of file sizes (ulimit -f)"),
              std::string::npos)
        << limit.err;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(at("d")), {}), 1);
}

TEST_F(EngineCommand, CtrlCLeavesWholeFilesOrNone) {
    const std::vector<std::string> words{"run",
                                         "plan.json",
                                         "--device",
                                         "cpu",
                                         "--steps",
                                         "100000",
                                         "--checkpoint",
                                         "kept",
                                         "--json",
                                         "--output",
                                         "t.trace.json.gz",
                                         "--save-weights",
                                         "w",
                                         "--checkpoint-every=1"};
    EXPECT_EQ(interrupted_after(HEADROOM_ENGINE_PROGRAM, words, "\"event\":\"step\"", 2), 130);
    EXPECT_NE(bytes("err").find("interrupted"), std::string::npos) << bytes("err");
    std::filesystem::remove(at("err"));
    EXPECT_EQ(in_folder(), (std::vector<std::string>{"kept", "plan.json"}));
    const Result<CheckpointFacts> facts = read_checkpoint_facts(at("kept"));
    ASSERT_TRUE(facts) << facts.error().text();
    EXPECT_GE(facts->steps, 1);
    EXPECT_TRUE(check_checkpoint_states(at("kept"), training_plan()));
}

TEST_F(EngineCommand, CtrlCReachesTheEngineThroughTheCommand) {
    const std::vector<std::string> words{"run", "plan.json", "--device", "cpu", "--steps", "100000"};
    EXPECT_EQ(interrupted_after(HEADROOM_COMMAND, words, ": loss ", 1), 130);
    EXPECT_NE(bytes("err").find("interrupted"), std::string::npos) << bytes("err");
}

TEST_F(EngineCommand, ADeterministicPlanGivesTheSameBitsTwice) {
    Plan plan = training_plan();
    plan.decisions.deterministic = true;
    plan.decisions.weights = plan.decisions.kv = plan.decisions.kv_gradients = Dtype::bf16;
    plan.recipe.gradients = plan.recipe.states = Dtype::fp32;
    options(plan);
    for (const char* folder : {"a", "b"}) EXPECT_EQ(run({"--steps", "2", "--save-weights", folder}).code, 0);
    EXPECT_EQ(bytes("a/model.safetensors"), bytes("b/model.safetensors"));
}

}  // namespace
}  // namespace headroom::engine::test
