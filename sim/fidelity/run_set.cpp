#include "fidelity/run_set.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace headroom::fidelity {

double RunSet::repeatability() const {
    if (repeat_step_ns.size() < 2) return 0;
    const auto [least, most] = std::minmax_element(repeat_step_ns.begin(), repeat_step_ns.end());
    return *least > 0 ? static_cast<double>(*most - *least) / static_cast<double>(*least) : 0;
}

std::string hardware_of(std::span<const RunSet> sets, int64_t id, const std::string& planned) {
    for (const RunSet& s : sets)
        if (s.id == id && !s.hardware.empty()) return s.hardware;
    return planned;
}

std::string write_run_set(const RunSet& s) {
    nlohmann::ordered_json j{{"schema_version", 1},
                             {"id", s.id},
                             {"machine", s.machine},
                             {"date", s.date},
                             {"commit", s.commit},
                             {"repeated", s.repeated},
                             {"repeat_step_ns", s.repeat_step_ns},
                             {"calibration", s.calibration},
                             {"calibration_not_read", s.calibration_not_read}};
    if (!s.hardware.empty()) j["hardware"] = s.hardware;
    return j.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<RunSet> parse_run_set(std::string_view json, const std::string& where) {
    HEADROOM_TRY(ConfigTable root, parse_json(json, where));
    HEADROOM_TRY(const int64_t version, root.need<int64_t>("schema_version"));
    if (version != 1) return fail(root.place("schema_version"), std::to_string(version), "1");
    RunSet s;
    HEADROOM_TRY(s.id, root.need<int64_t>("id"));
    if (s.id < 1) return fail(root.place("id"), std::to_string(s.id), "1 or more");
    HEADROOM_TRY(s.machine, root.need<std::string>("machine"));
    HEADROOM_TRY(s.date, root.need<std::string>("date"));
    HEADROOM_TRY(s.commit, root.need<std::string>("commit"));
    HEADROOM_TRY(s.hardware, root.get_or<std::string>("hardware", ""));
    HEADROOM_TRY(s.repeated, root.need<std::string>("repeated"));
    HEADROOM_TRY(s.repeat_step_ns, root.need<std::vector<int64_t>>("repeat_step_ns"));
    HEADROOM_TRY(s.calibration, root.need<std::vector<std::string>>("calibration"));
    HEADROOM_TRY(s.calibration_not_read, root.need<std::string>("calibration_not_read"));
    HEADROOM_CHECK(root.finish());
    return s;
}

}  // namespace headroom::fidelity
