// Small plans as files, and runs of them as `headroom-engine run` makes them.
#pragma once

#include <ATen/Parallel.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "engine/run/small_model.h"
#include "run/training.h"
#include "sim/base/scratch_folder.h"

namespace headroom::engine::test {

// 3 chunks of a model of 3 layers, weights in fp32, AdamW.
inline Plan training_plan() {
    Plan p = small_plan({"qwen2", true, false, 0, ""}, Dtype::fp32, 96, 32, 8);
    p.recipe.optimizer = Optimizer::adamw;
    return p;
}

class TrainingFolder : public ScratchFolder {
protected:
    // One thread: the models are small, and threads that wait for each other take whole seconds where the
    // machine does something else too.
    TrainingFolder() { at::set_num_threads(1); }
    // The plan as a file, and options that run it on the CPU.
    cli::RunOptions options(const Plan& plan) const {
        EXPECT_TRUE(write_file(at("plan.json"), write_plan(plan)));
        cli::RunOptions o;
        o.plan = at("plan.json");
        o.device = "cpu";
        return o;
    }
    // Its events; `error` where it fails.
    std::vector<nlohmann::ordered_json> run(const cli::RunOptions& options) {
        std::vector<nlohmann::ordered_json> events;
        const Result<void> done =
            train(options, [&](const nlohmann::ordered_json& line) { events.push_back(line); });
        error = done ? Error{} : done.error();
        return events;
    }
    std::vector<double> losses(const cli::RunOptions& options) {
        std::vector<double> found;
        for (const nlohmann::ordered_json& line : run(options))
            if (line["event"] == "step") found.push_back(line["loss"]);
        EXPECT_EQ(error.text(), "");
        return found;
    }
    std::string bytes(const std::string& name) const {
        const Result<std::string> text = read_file(at(name), 64 * kMiB);
        EXPECT_TRUE(text) << (text ? "" : text.error().text());
        return text ? *text : "";
    }
    Error error;
};

}  // namespace headroom::engine::test
