// The folder of a suite's results: what is in it, by name.
//
//   NAME.plan.json, NAME.prediction.json   written before the run
//   NAME.run.json.gz                       what is kept of it
//   NAME.selection.json.gz, NAME.recorded.json   sparse: the selection that it made, and the prediction from
//   that NAME.log, NAME.trace.json.gz           the engine's messages where there are any; the timeline, with
//   --keep set-N.json                             a set of runs on one machine fidelity.md, fidelity.json,
//   steps.svg, errors.svg   the table and its pictures
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fidelity/judge.h"

namespace headroom::cli {

class FidelityFolder {
public:
    explicit FidelityFolder(std::filesystem::path path) : path_(std::move(path)) {}
    Result<void> make() const;

    std::filesystem::path file(const std::string& name) const { return path_ / name; }
    bool has(const std::string& name) const;
    bool holds_runs() const;
    void remove(const std::string& name) const;

    // Empty where there is no such file. Errors: it cannot be read.
    Result<std::optional<fidelity::Prediction>> prediction(const std::string& file_name) const;
    Result<std::optional<fidelity::RunSummary>> run(const std::string& name) const;
    // Contexts of the ladder's rungs that have been run, ascending.
    std::vector<Tokens> rungs(const std::string& ladder) const;
    // By number.
    Result<std::vector<fidelity::RunSet>> sets() const;
    Result<void> write(const fidelity::RunSummary& run) const;
    Result<void> write(const fidelity::RunSet& set) const;
    // Table and pictures.
    Result<void> write(const fidelity::Results& results) const;

private:
    std::vector<std::string> names() const;  // sorted
    std::filesystem::path path_;
};

}  // namespace headroom::cli
