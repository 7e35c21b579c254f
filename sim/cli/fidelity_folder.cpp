#include "cli/fidelity_folder.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "fidelity/report.h"

namespace headroom::cli {
namespace {

constexpr int64_t kLimit_bytes = 64 * kMiB;
constexpr const char* kRunEnding = ".run.json.gz";

}  // namespace

Result<void> FidelityFolder::make() const {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error) return fail(path_.string(), error.message(), "a folder that can be made", Fault::run_failed);
    return {};
}

bool FidelityFolder::has(const std::string& name) const {
    std::error_code ignored;
    return std::filesystem::is_regular_file(file(name), ignored);
}

void FidelityFolder::remove(const std::string& name) const {
    std::error_code ignored;
    std::filesystem::remove(file(name), ignored);
}

std::vector<std::string> FidelityFolder::names() const {
    std::vector<std::string> out;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path_, ignored))
        out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
}

bool FidelityFolder::holds_runs() const {
    const std::vector<std::string> all = names();
    return std::any_of(all.begin(), all.end(), [](const std::string& n) { return n.ends_with(kRunEnding); });
}

Result<std::optional<fidelity::Prediction>> FidelityFolder::prediction(const std::string& name) const {
    if (!has(name)) return std::optional<fidelity::Prediction>();
    HEADROOM_TRY(const std::string text, read_file(file(name), kLimit_bytes));
    HEADROOM_TRY(fidelity::Prediction p, fidelity::parse_prediction(text, file(name).string()));
    return std::optional(std::move(p));
}

Result<std::optional<fidelity::RunSummary>> FidelityFolder::run(const std::string& name) const {
    if (!has(name + kRunEnding)) return std::optional<fidelity::RunSummary>();
    HEADROOM_TRY(fidelity::RunSummary r, fidelity::read_run(file(name + kRunEnding)));
    return std::optional(std::move(r));
}

std::vector<Tokens> FidelityFolder::rungs(const std::string& ladder) const {
    std::vector<Tokens> contexts;
    for (const std::string& name : names()) {
        if (!name.starts_with(ladder + "@") || !name.ends_with(kRunEnding)) continue;
        const size_t begin = ladder.size() + 1;
        const std::string number = name.substr(begin, name.size() - begin - std::strlen(kRunEnding));
        if (const Result<int64_t> context = parse_count(number, name)) contexts.push_back(Tokens(*context));
    }
    std::sort(contexts.begin(), contexts.end());
    return contexts;
}

Result<std::vector<fidelity::RunSet>> FidelityFolder::sets() const {
    std::vector<fidelity::RunSet> sets;
    for (const std::string& name : names()) {
        if (!name.starts_with("set-") || !name.ends_with(".json")) continue;
        HEADROOM_TRY(const std::string text, read_file(file(name), kLimit_bytes));
        HEADROOM_TRY(fidelity::RunSet set, fidelity::parse_run_set(text, file(name).string()));
        sets.push_back(std::move(set));
    }
    std::sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return sets;
}

Result<void> FidelityFolder::write(const fidelity::RunSummary& run) const {
    return write_file(file(run.name + kRunEnding), gzip(fidelity::write_run(run)));
}

Result<void> FidelityFolder::write(const fidelity::RunSet& set) const {
    return write_file(file("set-" + std::to_string(set.id) + ".json"), fidelity::write_run_set(set));
}

Result<void> FidelityFolder::write(const fidelity::Results& results) const {
    HEADROOM_CHECK(write_file(file("fidelity.md"), fidelity::results_markdown(results)));
    HEADROOM_CHECK(write_file(file("fidelity.json"), fidelity::results_json(results).dump(1) + "\n"));
    HEADROOM_CHECK(write_file(file("steps.svg"), fidelity::step_svg(results)));
    return write_file(file("errors.svg"), fidelity::error_svg(results));
}

}  // namespace headroom::cli
