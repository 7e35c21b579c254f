// Runs that stop and go on, on the CPU.
#include "run/checkpoint.h"

#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/interrupt.h"
#include "engine/run/plan_files.h"

namespace headroom::engine::test {
namespace {

class Checkpoint : public TrainingFolder {
protected:
    void TearDown() override {
        clear_interrupt();
        TrainingFolder::TearDown();
    }
    // Names in a folder, hidden ones too, sorted.
    std::vector<std::string> in(const std::string& folder) const {
        std::vector<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(at(folder)))
            out.push_back(entry.path().filename().string());
        std::sort(out.begin(), out.end());
        return out;
    }
    std::string refused(const cli::RunOptions& o) {
        EXPECT_EQ(run(o).size(), 0u);
        EXPECT_EQ(error.fault, Fault::bad_input) << error.text();
        return error.text();
    }
};

struct Case {
    Optimizer optimizer;
    Dtype weights, states;
    bool master;
    int64_t lora = 0;
    Home home = Home::device;  // of weights, gradients and states
};

TEST_F(Checkpoint, ARunThatGoesOnHasTheBitsOfOneThatNeverStopped) {
    const std::vector<Case> cases{{Optimizer::none, Dtype::fp32, Dtype::fp32, false},
                                  {Optimizer::sgd, Dtype::bf16, Dtype::fp32, false},
                                  {Optimizer::sgd, Dtype::bf16, Dtype::fp32, true},
                                  {Optimizer::adamw, Dtype::fp64, Dtype::fp64, false},
                                  {Optimizer::adamw, Dtype::bf16, Dtype::fp32, false},
                                  {Optimizer::adamw, Dtype::bf16, Dtype::bf16, true},
                                  {Optimizer::adamw8bit, Dtype::bf16, Dtype::fp32, false},
                                  {Optimizer::adamw8bit, Dtype::fp32, Dtype::fp32, true},
                                  {Optimizer::adamw, Dtype::bf16, Dtype::bf16, false, 4},
                                  {Optimizer::adamw, Dtype::bf16, Dtype::fp32, true, 0, Home::host},
                                  {Optimizer::adamw8bit, Dtype::bf16, Dtype::fp32, false, 0, Home::host}};
    for (const Case& c : cases) {
        Plan plan = training_plan();
        Decisions& d = plan.decisions;
        d.weights = d.kv = d.kv_gradients = c.weights;
        d.weights_home = d.gradients_home = d.states_home = c.home;
        plan.recipe.optimizer = c.optimizer;
        plan.recipe.gradients = c.weights == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32;
        plan.recipe.states = c.states;
        plan.recipe.master_weights = c.master;
        plan.recipe.lora_rank = c.lora;
        if (c.lora > 0) plan.recipe.lora_targets = {"q", "v", "down"};
        cli::RunOptions o = options(plan);
        o.learning_rate = 1e-3;
        o.schedule = "cosine";
        o.warmup_steps = 2;
        o.steps = 5;
        o.seed = 11;
        o.save_weights = at("whole");
        const std::vector<double> whole = losses(o);

        cli::RunOptions first = o;
        first.save_weights.clear();
        first.total_steps = 5;
        first.steps = 3;
        first.checkpoint = at("kept");
        const std::vector<double> before = losses(first);
        cli::RunOptions rest;
        rest.plan = o.plan;
        rest.device = "cpu";
        rest.steps = 2;
        rest.resume = at("kept");
        rest.save_weights = at("parts");
        const std::vector<double> after = losses(rest);

        ASSERT_EQ(before.size() + after.size(), 5u);
        const std::string name = std::string(name_of(c.optimizer)) + " " + std::string(name_of(c.weights)) +
                                 (c.master ? " master" : "") + (c.lora > 0 ? " LoRA" : "");
        EXPECT_EQ(whole, (std::vector<double>{before[0], before[1], before[2], after[0], after[1]})) << name;
        const std::string file = c.lora > 0 ? "adapter_model.safetensors" : "model.safetensors";
        EXPECT_EQ(bytes("whole/" + file), bytes("parts/" + file)) << name;
        for (const char* folder : {"whole", "kept", "parts"}) std::filesystem::remove_all(at(folder));
    }
}

TEST_F(Checkpoint, EverySoManyStepsAndAtTheEnd) {
    cli::RunOptions o = options(training_plan());
    o.steps = 5;
    o.checkpoint = at("kept/");
    o.checkpoint_every = 2;
    std::vector<int64_t> steps;
    for (const auto& event : run(o))
        if (event["event"] == "checkpoint") steps.push_back(event["step"]);
    EXPECT_EQ(steps, (std::vector<int64_t>{2, 4, 5}));
    EXPECT_EQ(in("kept"), (std::vector<std::string>{"checkpoint.json", "config.json", "model.safetensors",
                                                    "optimizer.safetensors"}));
    EXPECT_EQ(in(""), (std::vector<std::string>{"kept", "plan.json"}));
    EXPECT_EQ(read_checkpoint_facts(at("kept"))->steps, 5);
    // What a run that was killed left beside it does not stand in the way.
    std::filesystem::create_directories(at(".kept.part/x"));
    o.steps = 1;
    run(o);
    EXPECT_EQ(error.text(), "");
    EXPECT_EQ(in(""), (std::vector<std::string>{"kept", "plan.json"}));
}

TEST_F(Checkpoint, AnotherPlanSeedOrFolderIsRefused) {
    const Plan plan = training_plan();
    cli::RunOptions o = options(plan);
    o.checkpoint = at("kept");
    run(o);
    ASSERT_EQ(error.text(), "");
    cli::RunOptions rest = o;
    rest.checkpoint.clear();
    rest.resume = at("kept");
    rest.given = {"seed"};
    rest.seed = 1;
    EXPECT_EQ(refused(rest), "--seed: 1; allowed: 0, as " + at("kept/checkpoint.json").string() +
                                 " has it, or the option left out");
    rest.given.clear();
    Plan other = plan;
    other.recipe.optimizer = Optimizer::sgd;
    ASSERT_TRUE(write_file(at("other.json"), write_plan(other)));
    rest.plan = at("other.json");
    EXPECT_NE(refused(rest).find("is of the plan with hash " + plan_hash(plan)), std::string::npos);
    rest.plan = o.plan;
    rest.resume = at("none");
    EXPECT_NE(refused(rest).find("none/checkpoint.json: does not exist"), std::string::npos);
    // A folder with something else in it is not replaced.
    std::filesystem::create_directories(at("mine"));
    ASSERT_TRUE(write_file(at("mine/notes"), "x"));
    o.checkpoint = at("mine");
    EXPECT_NE(refused(o).find("holds something else than a checkpoint"), std::string::npos);
    o.checkpoint = at("mine/notes");
    EXPECT_NE(refused(o).find("is no folder"), std::string::npos);
}

TEST_F(Checkpoint, OneThatIsDamagedIsRefused) {
    const cli::RunOptions good = [&] {
        cli::RunOptions o = options(training_plan());
        o.checkpoint = at("kept");
        run(o);
        o.checkpoint.clear();
        o.resume = at("kept");
        return o;
    }();
    ASSERT_EQ(error.text(), "");
    const std::string facts = bytes("kept/checkpoint.json");
    for (const std::string& text : {std::string(""), std::string("[]"), facts.substr(0, 40),
                                    "{\"schema_version\": 99" + facts.substr(facts.find(','))}) {
        ASSERT_TRUE(write_file(at("kept/checkpoint.json"), text));
        EXPECT_NE(refused(good).find("checkpoint.json"), std::string::npos);
    }
    ASSERT_TRUE(write_file(at("kept/checkpoint.json"), facts));
    const std::string states = bytes("kept/optimizer.safetensors");
    ASSERT_TRUE(write_file(at("kept/optimizer.safetensors"), states.substr(0, states.size() - 1)));
    EXPECT_NE(refused(good).find("optimizer.safetensors"), std::string::npos);
    std::filesystem::copy_file(at("kept/model.safetensors"), at("kept/optimizer.safetensors"),
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_NE(refused(good).find("tensor 'first': is missing"), std::string::npos);
    ASSERT_TRUE(write_file(at("kept/optimizer.safetensors"), states));
    std::filesystem::remove(at("kept/model.safetensors"));
    EXPECT_NE(refused(good).find("holds no weights"), std::string::npos);
}

// A disk that takes so many bytes of a file and no more: the limit of the process.
struct FullDisk {
    explicit FullDisk(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before); }
    rlimit before{};
};

TEST_F(Checkpoint, ADiskThatIsFullLeavesTheOneBeforeAndNothingElse) {
    cli::RunOptions o = options(training_plan());
    o.checkpoint = at("kept");
    run(o);
    ASSERT_EQ(error.text(), "");
    const std::string before = bytes("kept/optimizer.safetensors");
    o.resume = at("kept");
    for (const rlim_t room : {rlim_t{0}, rlim_t{4096}, static_cast<rlim_t>(before.size() - 100)}) {
        const FullDisk full(room);
        run(o);
        EXPECT_EQ(error.fault, Fault::run_failed);
        EXPECT_NE(error.text().find(".kept.part"), std::string::npos) << error.text();
        EXPECT_EQ(in(""), (std::vector<std::string>{"kept", "plan.json"}));
        EXPECT_EQ(bytes("kept/optimizer.safetensors"), before);
        EXPECT_EQ(read_checkpoint_facts(at("kept"))->steps, 1);
    }
}

TEST_F(Checkpoint, AnInterruptWhileWritingLeavesTheOneBefore) {
    cli::RunOptions o = options(training_plan());
    o.checkpoint = at("kept");
    run(o);
    ASSERT_EQ(error.text(), "");
    handle_interrupts();
    SmallRun trained(training_plan());
    trained.step();
    trained.step();
    raise(SIGINT);
    const Result<void> written =
        write_checkpoint(at("kept"), trained.plan, *trained.executor, nlohmann::ordered_json::object());
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().fault, Fault::interrupted);
    clear_interrupt();
    EXPECT_EQ(read_checkpoint_facts(at("kept"))->steps, 1);
    EXPECT_EQ(in(""), (std::vector<std::string>{"kept", "plan.json"}));
}

}  // namespace
}  // namespace headroom::engine::test
