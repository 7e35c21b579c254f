// A suite: the plans whose predictions are held against runs on one machine (docs/fidelity.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace headroom::fidelity {

// Whether a plan's run may serve to fit constants of the cost model, or is only predicted.
enum class Half : uint8_t { fit, unseen };
std::string_view name_of(Half half);
// Drawn from the name alone, before anything is measured: unseen where bit 32 of the name's FNV-1a hash (64
// bits) is 1. A plan keeps its half whatever else the suite holds.
Half half_of(std::string_view plan_name);

// A scenario: a shipped one or a file beside the suite, or a model with default answers; and what is set over
// it.
struct Question {
    std::string scenario, model;   // one of the two
    std::vector<std::string> set;  // "key=value", as of --set
};

struct SuitePlan {
    std::string name;  // letters, digits, '.', '_', '-', '@': names files
    Question question;
    int64_t steps = 2;  // the last one is measured
    int64_t seed = 0;
    bool repeat = false;  // run again at the end of each set of runs
    bool no_device_check = false;
    std::string ladder;  // of a rung: the ladder's name
    Half half = Half::fit;
    std::optional<SelectionModel> selection;  // instead of the suite's
    std::string place;                        // "h200.toml:12", for messages
};

// Contexts around the largest that is predicted to fit, each run until an allocation fails.
struct Ladder {
    std::string name;
    Question question;
    std::vector<double> rungs;  // of the predicted limit, ascending: -0.01 is 1 % below
    int64_t steps = 1;
    std::string place;
};

// Plans of one question that the search ranks by predicted time, all of them run.
struct Ranking {
    std::string name;
    std::vector<std::string> plans;
    std::string place;
};

struct Suite {
    std::string path, name, title;
    std::string hardware;          // for questions that name a model
    std::vector<std::string> set;  // over every question, before its own
    // What predictions of sparse plans draw their selections from. The plans themselves are sized by the
    // selection of their question, which must be the larger.
    std::optional<SelectionModel> selection;
    const std::optional<SelectionModel>& selection_of(const SuitePlan& plan) const {
        return plan.selection ? plan.selection : selection;
    }
    double start_seconds = 5;      // of a process, until it has a device
    std::vector<SuitePlan> plans;  // in the order in which they are run
    std::vector<Ladder> ladders;
    std::vector<Ranking> rankings;
};

// Errors name line and key: an unknown key, a name that stands twice, a half that is not the name's, a
// ranking of a plan that is not there, neither or both of 'scenario' and 'model'.
Result<Suite> parse_suite(std::string_view toml, const std::string& where);
Result<Suite> read_suite(const std::filesystem::path& path);

// All questions are about this machine (a name of models/hardware, or a file), whatever the suite and its
// scenarios name.
void use_hardware(Suite& suite, const std::string& name_or_path);

// The scenario of one question of the suite, named `name`. Errors lead with `place`.
Result<Scenario> scenario_of(const Suite& suite, const Question& question, const std::string& name,
                             const std::string& place, const std::filesystem::path& data);

}  // namespace headroom::fidelity
