// A suite's plans, predicted and then run, one process a plan.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/fidelity_folder.h"
#include "fidelity/judge.h"
#include "fidelity/suite.h"

namespace headroom::cli {

struct FidelityOptions {
    std::string suite, folder, device = "cuda", commit;
    std::string hardware;                  // a name or a file; empty: as the suite and its scenarios say
    std::vector<std::string> only;         // names of plans, ladders; empty: all
    std::vector<std::string> run_options;  // words for the engine, such as --attention=graph
    double budget_seconds = 0;             // 0: no limit
    bool resume = false, predict_only = false, replay = false, keep = false;
    bool calibrate_exists = false;  // this program has the command
};

class FidelityRuns {
public:
    FidelityRuns(const FidelityOptions& options, fidelity::Suite suite, std::filesystem::path data);

    // Plans and predicts everything that is to be run, and writes it down.
    Result<void> predict();
    // Runs what was predicted, in the suite's order; the table is written after each run.
    Result<void> run();
    // Predicts the runs that are in the folder again, from the hardware file as it is now.
    Result<void> replay();

    const fidelity::Results& results() const { return results_; }
    // What the runs of `entries` that have none yet are expected to take.
    double expected_seconds() const;
    bool any_failed() const;

private:
    struct Work {
        Plan plan;
        std::string question;  // as one text, to know it again
    };
    using Clock = std::chrono::steady_clock;

    bool wanted(const std::string& name, const std::string& ladder) const;
    bool to_run(const fidelity::Entry& entry) const;
    Result<void> predict_entry(fidelity::Entry& entry);
    // Without rungs.
    Result<fidelity::LadderResult> limit_of(const fidelity::Ladder& ladder) const;
    Result<void> predict_ladder(const fidelity::Ladder& ladder);
    Result<void> replay_entry(fidelity::Entry& entry);
    Result<Plan> plan_of(const fidelity::SuitePlan& plan) const;
    Result<void> load(fidelity::Entry& entry) const;
    double expected_seconds(const fidelity::Entry& entry) const;
    double preparing_seconds(const fidelity::Prediction& prediction) const;
    double left_seconds() const;

    Result<void> run_all();
    Result<void> begin_set();
    Result<void> read_calibration();
    Result<void> end_set();
    // False: left out, as the time left is too short.
    Result<bool> run_entry(fidelity::Entry& entry, double reserved_seconds);
    Result<fidelity::RunSummary> run_plan(const fidelity::Entry& entry, const std::string& file_name);
    Result<void> take_selection(fidelity::Entry& entry, const std::string& file_name,
                                fidelity::RunSummary& summary);
    Result<void> predict_recorded(fidelity::Entry& entry, const Plan& plan);
    Result<void> write_table();
    // The suite's [selection] as the fit half asks for it.
    void say_selection() const;
    std::string failure_of(const std::string& log, int exit_code) const;

    const FidelityOptions& options_;
    fidelity::Suite suite_;
    std::filesystem::path data_;
    FidelityFolder folder_;
    fidelity::Results results_;
    std::optional<fidelity::RunSet> set_;
    const fidelity::Entry* repeated_ = nullptr;
    Clock::time_point begin_ = Clock::now();
    mutable std::map<std::string, double> pin_seconds_per_gib_;  // by hardware file, read once
    // Observed: what a run takes beside its steps and its pinning.
    double beside_seconds_ = 0;
    int64_t observed_ = 0;
};

}  // namespace headroom::cli
