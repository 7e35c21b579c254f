// Runs from files to files, on the CPU.
#include "run/training.h"

#include <algorithm>
#include <cstring>

#include "decoder/adapters.h"
#include "decoder/parameters.h"
#include "engine/run/plan_files.h"
#include "engine/run/small_model.h"
#include "search/evaluate.h"
#include "timeline/compare.h"
#include "timeline/timeline.h"
#include "weights/safetensors.h"

namespace headroom::engine::test {
namespace {

class TrainingTest : public TrainingFolder {};

TEST_F(TrainingTest, ASavedRunGoesOnWhereItEnded) {
    Plan plan = training_plan();
    plan.recipe.optimizer = Optimizer::sgd;  // no states: weights are all that a step leaves
    cli::RunOptions o = options(plan);
    o.learning_rate = 0.1;
    o.steps = 4;
    const std::vector<double> whole = losses(o);
    o.steps = 2;
    o.save_weights = at("saved");
    const std::vector<double> first = losses(o);
    o.save_weights.clear();
    o.weights = at("saved");
    const std::vector<double> second = losses(o);
    EXPECT_EQ(whole, (std::vector<double>{first[0], first[1], second[0], second[1]}));
    EXPECT_LT(whole[3], whole[0]);
}

// By SGD at a known rate, the weights say what the gradients were.
TEST_F(TrainingTest, SavedGradientsAreThoseOfTheStep) {
    for (const int64_t rank : {0, 4}) {
        Plan plan = small_plan({"qwen2", true, false, 0, ""}, Dtype::fp64, 96, 32, 8);
        plan.recipe.optimizer = Optimizer::sgd;
        plan.recipe.lora_rank = rank;
        if (rank > 0) plan.recipe.lora_targets = {"q", "v", "down"};
        cli::RunOptions o = options(plan);
        o.clip_norm = o.weight_decay = 0;
        o.learning_rate = 0;
        o.save_weights = at("before");
        losses(o);
        o.learning_rate = 0.5;
        o.save_weights = at("after");
        o.save_gradients = at("gradients");
        losses(o);
        const char* name = rank > 0 ? "adapter_model.safetensors" : "model.safetensors";
        const auto file = [&](const char* folder) {
            Result<SafetensorsFile> f = SafetensorsFile::open(at(folder) / name);
            EXPECT_TRUE(f) << (f ? "" : f.error().text());
            return std::move(*f);
        };
        const SafetensorsFile before = file("before"), after = file("after"), gradients = file("gradients");
        double largest = 0;
        for (const Parameter& p :
             rank > 0 ? adapter_list(plan.model, plan.recipe) : parameter_list(plan.model)) {
            const auto values = [&](const SafetensorsFile& f) {
                const StoredTensor& t = f.tensors().at(p.weight.name);
                const at::Tensor copy = at::empty({p.elements()}, at::kDouble);
                std::memcpy(copy.data_ptr(), t.data.data(), static_cast<size_t>(p.elements() * 8));
                return copy;
            };
            const at::Tensor gradient = values(gradients);
            largest = std::max(largest, gradient.abs().max().item<double>());
            EXPECT_LT((values(before) - values(after) - gradient * 0.5).abs().max().item<double>(), 1e-15);
        }
        EXPECT_GT(largest, 1e-4);
    }
}

TEST_F(TrainingTest, TokensFromAFileDecideTheLoss) {
    const Plan plan = training_plan();
    std::vector<uint32_t> ids(2 * 96);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<uint32_t>(i * 7 % 160);
    ASSERT_TRUE(write_file(at("ids"), {reinterpret_cast<const char*>(ids.data()), 4 * ids.size()}));
    cli::RunOptions o = options(plan);
    o.learning_rate = 0;
    o.steps = 3;
    o.tokens = at("ids");
    const std::vector<double> found = losses(o);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_NE(found[0], found[1]);  // the second context
    EXPECT_EQ(found[0], found[2]);  // the first again
}

// What a run selected plans the same run to the byte.
TEST_F(TrainingTest, ASelectionThatWasMadeIsPlannedWith) {
    Plan plan = sparse(training_plan(), 5, 16, 1, 2);
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = {0, 0, 0};
    cli::RunOptions o = options(plan);
    o.record_selection = at("selection.json.gz");
    const std::vector<double> first = losses(o);
    const Result<RecordedSelection> made = read_selection(o.record_selection);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->chunks, plan.chunks());
    EXPECT_NE(*made, *plan.selection.recorded);
    plan.selection.recorded = std::make_shared<RecordedSelection>(*made);
    o = options(plan);
    o.output = at("measured.trace.json.gz");
    EXPECT_EQ(losses(o), first);
    const Result<Timeline> measured = read_timeline(o.output), predicted = predict(plan);
    ASSERT_TRUE(measured) << measured.error().text();
    ASSERT_TRUE(predicted) << predicted.error().text();
    ASSERT_EQ(measured->traffic.size(), predicted->traffic.size());
    for (size_t i = 0; i < measured->traffic.size(); ++i) {
        EXPECT_EQ(measured->traffic[i].selected, predicted->traffic[i].selected);
        EXPECT_EQ(measured->traffic[i].loaded_bytes, predicted->traffic[i].loaded_bytes);
        EXPECT_EQ(measured->traffic[i].first_touched, predicted->traffic[i].first_touched);
    }
    const Result<Comparison> c = compare(*predicted, *measured);
    ASSERT_TRUE(c) << c.error().text();
    EXPECT_EQ(c->unmatched_ops, 0);
    for (const Difference& d : c->differences) {
        if (d.group != "tier") continue;
        EXPECT_EQ(d.predicted, d.measured) << d.what;
    }
}

TEST_F(TrainingTest, WhatIsWrongIsToldBeforeAnythingBegins) {
    const cli::RunOptions good = options(training_plan());
    ASSERT_TRUE(write_file(at("short"), std::string(4, '\0')));
    const auto expect = [&](const cli::RunOptions& o, const std::string& part) {
        const auto events = run(o);
        EXPECT_EQ(events.size(), 0u);
        EXPECT_EQ(error.fault, Fault::bad_input);
        EXPECT_NE(error.text().find(part), std::string::npos) << error.text();
        EXPECT_EQ(names().size(), 2u);  // the plan and the short file
    };
    for (const std::string& path :
         {at("none").string(), at("none/model.safetensors").string(), folder_.string()}) {
        cli::RunOptions o = good;
        o.weights = path;
        o.save_weights = at("saved");
        expect(o, path);
    }
    cli::RunOptions o = good;
    o.tokens = at("none");
    expect(o, "none: does not exist");
    o.tokens = at("short");
    expect(o, "holds 1 token ids");
    o = good;
    o.attention = "graph";
    expect(o, "--attention: graph, on a CPU; allowed: auto, aten, or --device cuda");
    o = good;
    o.save_weights = at("short");
    expect(o, "--save-weights: '" + at("short").string() + "' is no folder");
}

TEST_F(TrainingTest, EveryOptimizerLowersTheLoss) {
    struct Case {
        Optimizer optimizer;
        Dtype weights, gradients, states;
        bool master;
    };
    const std::vector<Case> cases{{Optimizer::sgd, Dtype::fp32, Dtype::fp32, Dtype::fp32, false},
                                  {Optimizer::sgd, Dtype::bf16, Dtype::bf16, Dtype::fp32, true},
                                  {Optimizer::adamw, Dtype::bf16, Dtype::fp32, Dtype::fp32, false},
                                  {Optimizer::adamw, Dtype::bf16, Dtype::fp32, Dtype::bf16, true},
                                  {Optimizer::adamw8bit, Dtype::bf16, Dtype::fp32, Dtype::fp32, false},
                                  {Optimizer::adamw8bit, Dtype::bf16, Dtype::fp32, Dtype::fp32, true}};
    for (const Case& c : cases) {
        Plan plan = training_plan();
        Decisions& d = plan.decisions;
        d.weights = d.kv = d.kv_gradients = c.weights;
        plan.recipe.optimizer = c.optimizer;
        plan.recipe.gradients = c.gradients;
        plan.recipe.states = c.states;
        plan.recipe.master_weights = c.master;
        cli::RunOptions o = options(plan);
        o.learning_rate = c.optimizer == Optimizer::sgd ? 0.1 : 1e-3;
        o.steps = 5;
        const std::vector<double> found = losses(o);
        ASSERT_EQ(found.size(), 5u);
        EXPECT_LT(found[4], found[0] - 0.02) << name_of(c.optimizer) << " " << c.master;
    }
}

TEST_F(TrainingTest, TheScheduleDecidesEachStep) {
    cli::RunOptions o = options(training_plan());
    o.steps = 4;
    o.learning_rate = 1e-3;
    o.warmup_steps = 2;
    o.schedule = "linear";
    std::vector<double> rates;
    for (const auto& line : run(o))
        if (line["event"] == "step") rates.push_back(line["learning_rate"]);
    EXPECT_EQ(rates, (std::vector<double>{5e-4, 1e-3, 1e-3, 5e-4}));
    o.warmup_steps = 5;
    EXPECT_EQ(run(o).size(), 0u);
    EXPECT_EQ(error.where, "--warmup-steps");
}

TEST_F(TrainingTest, TheTimelineIsThatOfTheLastStep) {
    cli::RunOptions o = options(training_plan());
    o.steps = 2;
    o.output = at("t.trace.json.gz");
    const std::vector<double> found = losses(o);
    const Result<Timeline> t = read_timeline(o.output);
    ASSERT_TRUE(t) << t.error().text();
    EXPECT_EQ(t->results.at("loss"), found[1]);
}

}  // namespace
}  // namespace headroom::engine::test
