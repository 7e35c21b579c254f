#include "fidelity/engine_lines.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace headroom::fidelity {
namespace {

using Json = nlohmann::json;

double number(const Json& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && found->is_number() ? found->get<double>()
                                                      : std::numeric_limits<double>::quiet_NaN();
}
void take_bytes(const Json& event, const char* key, int64_t& out) {
    const auto found = event.find(key);
    if (found != event.end() && found->is_number_integer()) out = found->get<int64_t>();
}

}  // namespace

void take_line(EngineTold& told, const std::string& line) {
    const Json e = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!e.is_object() || !e.contains("event") || !e["event"].is_string()) return;
    const std::string kind = e["event"].get<std::string>();
    if (kind == "start" && e.contains("device") && e["device"].is_string())
        told.device = e["device"].get<std::string>();
    if (kind == "step") {
        told.step_seconds.push_back(number(e, "seconds"));
        told.losses.push_back(number(e, "loss"));
        told.gradient_norm = number(e, "gradient_norm");
    }
    for (const auto& [key, member] : {std::pair{"device_arena_bytes", &EngineTold::device_arena_bytes},
                                      {"host_arena_bytes", &EngineTold::host_arena_bytes},
                                      {"device_used_bytes", &EngineTold::device_used_bytes}})
        take_bytes(e, key, told.*member);
    if (kind == "end") told.ended = true;
}

}  // namespace headroom::fidelity
