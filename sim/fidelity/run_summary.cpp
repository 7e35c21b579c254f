#include "fidelity/run_summary.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "plan/throughput.h"

namespace headroom::fidelity {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kRunLimit_bytes = 256 * kMiB;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// What is no number is null.
Json number(double v) {
    return std::isfinite(v) ? Json(v) : Json(nullptr);
}
Json numbers(const std::vector<double>& list) {
    Json j = Json::array();
    for (const double v : list) j.push_back(number(v));
    return j;
}
Result<std::vector<double>> read_numbers(ConfigTable& table, const char* key) {
    HEADROOM_TRY(const ConfigValue list, table.need(key));
    HEADROOM_TRY(const std::vector<ConfigValue> items, list.items());
    std::vector<double> out;
    for (const ConfigValue& item : items) {
        HEADROOM_TRY(const double v, item.is_null() ? Result<double>(kNaN) : item.as<double>());
        out.push_back(v);
    }
    return out;
}

struct Text {
    const char* key;
    std::string RunSummary::*member;
};
constexpr Text kTexts[] = {{"name", &RunSummary::name},       {"machine", &RunSummary::machine},
                           {"date", &RunSummary::date},       {"commit", &RunSummary::commit},
                           {"command", &RunSummary::command}, {"plan_hash", &RunSummary::plan_hash},
                           {"failure", &RunSummary::failure}};
struct Whole {
    const char* key;
    int64_t RunSummary::*member;
};
constexpr Whole kWhole[] = {{"set", &RunSummary::set},
                            {"device_arena_bytes", &RunSummary::device_arena_bytes},
                            {"device_used_bytes", &RunSummary::device_used_bytes},
                            {"pinned_bytes", &RunSummary::pinned_bytes}};

}  // namespace

void take_timeline(RunSummary& s, const Timeline& t) {
    s.machine = t.machine;
    s.date = t.date;
    s.plan = t.plan;
    s.plan_hash = t.plan_hash;
    s.figures = figures_of(t, kCurveBins);
    if (const auto loss = t.results.find("loss"); loss != t.results.end() && s.losses.empty())
        s.losses = {loss->second};
    if (const auto norm = t.results.find("gradient_norm"); norm != t.results.end())
        s.gradient_norm = norm->second;
    const Result<Plan> plan = parse_plan(t.plan, "plan");
    if (plan && s.figures.step_ns > 0) {
        s.tokens_per_second = tokens_per_second(*plan, s.figures.step_ns);
        s.mfu = mfu(*plan, s.figures.step_ns);
    }
}

void take_told(RunSummary& s, const EngineTold& told) {
    if (!told.device.empty()) s.machine = told.device;
    s.step_seconds = told.step_seconds;
    s.losses = told.losses;
    s.gradient_norm = told.gradient_norm;
    s.device_arena_bytes = told.device_arena_bytes;
    s.device_used_bytes = told.device_used_bytes;
    s.pinned_bytes = told.host_arena_bytes;
}

std::string write_run(const RunSummary& s) {
    Json j{{"schema_version", 1}};
    for (const Text& t : kTexts) j[t.key] = s.*t.member;
    for (const Whole& w : kWhole) j[w.key] = s.*w.member;
    j["exit_code"] = s.exit_code;
    j["wall_seconds"] = number(s.wall_seconds);
    j["step_seconds"] = numbers(s.step_seconds);
    j["losses"] = numbers(s.losses);
    j["gradient_norm"] = number(s.gradient_norm);
    j["tokens_per_second"] = number(s.tokens_per_second);
    j["mfu"] = number(s.mfu);
    j["selection"] = s.selection ? selection_json(*s.selection) : Json(nullptr);
    j["figures"] = figures_json(s.figures);
    j["plan"] = s.plan;
    return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<RunSummary> parse_run(std::string_view json, const std::string& where) {
    HEADROOM_TRY(ConfigTable root, parse_json(json, where));
    HEADROOM_TRY(const int64_t version, root.need<int64_t>("schema_version"));
    if (version != 1) return fail(root.place("schema_version"), std::to_string(version), "1");
    RunSummary s;
    for (const Text& t : kTexts) {
        HEADROOM_TRY(s.*t.member, root.need<std::string>(t.key));
    }
    for (const Whole& w : kWhole) {
        HEADROOM_TRY(s.*w.member, root.need<int64_t>(w.key));
        if (s.*w.member < 0) return fail(root.place(w.key), std::to_string(s.*w.member), "0 or more");
    }
    HEADROOM_TRY(s.exit_code, root.need<int32_t>("exit_code"));
    HEADROOM_TRY(s.wall_seconds, root.get_or("wall_seconds", kNaN));
    HEADROOM_TRY(s.step_seconds, read_numbers(root, "step_seconds"));
    HEADROOM_TRY(s.losses, read_numbers(root, "losses"));
    HEADROOM_TRY(s.gradient_norm, root.get_or("gradient_norm", kNaN));
    HEADROOM_TRY(s.tokens_per_second, root.get_or("tokens_per_second", kNaN));
    HEADROOM_TRY(s.mfu, root.get_or("mfu", kNaN));
    HEADROOM_TRY(const std::optional<ConfigTable> selection, root.get<ConfigTable>("selection"));
    if (selection) {
        HEADROOM_TRY(s.selection, read_selection_sample(*selection));
    }
    HEADROOM_TRY(const ConfigTable figures, root.need<ConfigTable>("figures"));
    HEADROOM_TRY(s.figures, read_figures(figures));
    HEADROOM_TRY(s.plan, root.need<std::string>("plan"));
    HEADROOM_CHECK(root.finish());
    return s;
}

Result<RunSummary> read_run(const std::filesystem::path& path) {
    HEADROOM_TRY(std::string text, read_file(path, kRunLimit_bytes));
    if (text.starts_with("\x1f\x8b")) {
        HEADROOM_TRY(text, gunzip(text, path.string(), kRunLimit_bytes));
    }
    return parse_run(text, path.string());
}

}  // namespace headroom::fidelity
