#include "cli/report_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace headroom::cli {
namespace {

using Json = nlohmann::json;

double number(const Json& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && found->is_number() ? found->get<double>() : 0;
}
std::string text(const Json& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}
int64_t whole(const Json& event, const char* key) {
    return static_cast<int64_t>(number(event, key));
}

std::string gib(double bytes) {
    return fmt::format("{:.2f} GiB", bytes / static_cast<double>(int64_t{1} << 30));
}

std::string start(const Json& e) {
    std::string line = fmt::format("{}: {} operations a step, {} in the device's arena", text(e, "device"),
                                   format_integer(whole(e, "ops")), gib(number(e, "device_arena_bytes")));
    if (number(e, "host_arena_bytes") > 0)
        line += fmt::format(", {} in the host's", gib(number(e, "host_arena_bytes")));
    if (number(e, "disk_bytes") > 0)
        line += fmt::format(", {} on disk{}", gib(number(e, "disk_bytes")),
                            e.value("disk_direct", true) ? "" : " through the system's cache");
    if (whole(e, "first_step") > 0)
        line += fmt::format("; goes on after step {}", format_integer(whole(e, "first_step")));
    return line;
}

std::string speed(const Json& e) {
    std::string line =
        fmt::format("{} tokens/s", format_integer(std::llround(number(e, "tokens_per_second"))));
    if (e.contains("mfu")) line += fmt::format(", MFU {:.1f} %", 100 * number(e, "mfu"));
    if (e.contains("device_used_bytes"))
        line += fmt::format(", device memory in use {}", gib(number(e, "device_used_bytes")));
    return line;
}

std::string numbers(const Json& e) {
    // What is no number is null in JSON.
    const auto value = [&](const char* key) {
        return e.contains(key) && e[key].is_number() ? fmt::format("{:.6g}", number(e, key))
                                                     : std::string("not a number");
    };
    return fmt::format("loss {}, gradient norm {}", value("loss"), value("gradient_norm"));
}

std::string step(const Json& e) {
    return fmt::format("step {}: {}, {:.3g} s, {}", format_integer(whole(e, "step") + 1), numbers(e),
                       number(e, "seconds"), speed(e));
}

std::string end(const Json& e) {
    return fmt::format("{} step{}: {}, {}", format_integer(whole(e, "steps")),
                       whole(e, "steps") == 1 ? "" : "s", numbers(e), speed(e));
}

}  // namespace

std::optional<std::string> RunReport::take(const std::string& line) {
    const Json e = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const std::string kind = e.is_object() ? text(e, "event") : "";
    if (kind != "progress") progress_.clear();
    if (kind == "start") {
        first_ = whole(e, "first_step");
        steps_ = std::max<int64_t>(1, whole(e, "steps"));
        return start(e);
    }
    if (kind == "progress") {
        const auto done = static_cast<double>(whole(e, "step") - first_) + number(e, "share");
        (void)progress_(fmt::format("step {} of {}", whole(e, "step") - first_ + 1, steps_),
                        done / static_cast<double>(steps_));
        return std::nullopt;
    }
    if (kind == "step") return step(e);
    if (kind == "end") return end(e);
    if (kind == "checkpoint")
        return fmt::format("wrote the checkpoint {} after step {}", text(e, "folder"),
                           format_integer(whole(e, "step")));
    if (kind == "saved" && e.contains("gradients"))
        return fmt::format("wrote the gradients to {}", text(e, "gradients"));
    if (kind == "saved")
        return fmt::format("wrote the weights to {}{}", text(e, "weights"),
                           e.value("config", Json()) == true ? "" : " (without a config.json)");
    if (kind == "written")
        return fmt::format("wrote {}", text(e, e.contains("selection") ? "selection" : "timeline"));
    return line;
}

}  // namespace headroom::cli
