#include "run/settings.h"

#include <array>
#include <filesystem>
#include <variant>

namespace headroom::engine {
namespace {

using cli::RunOptions;
using Json = nlohmann::ordered_json;

struct Setting {
    const char* name;
    std::variant<double RunOptions::*, int64_t RunOptions::*, std::string RunOptions::*> member;
    bool may_change = false;  // a file: it may have moved
};

constexpr std::array<Setting, 13> kSettings{{{"seed", &RunOptions::seed},
                                             {"tokens", &RunOptions::tokens, true},
                                             {"learning-rate", &RunOptions::learning_rate},
                                             {"schedule", &RunOptions::schedule},
                                             {"warmup-steps", &RunOptions::warmup_steps},
                                             {"total-steps", &RunOptions::total_steps},
                                             {"min-learning-rate", &RunOptions::min_learning_rate},
                                             {"beta1", &RunOptions::beta1},
                                             {"beta2", &RunOptions::beta2},
                                             {"epsilon", &RunOptions::epsilon},
                                             {"weight-decay", &RunOptions::weight_decay},
                                             {"clip-norm", &RunOptions::clip_norm},
                                             {"device", &RunOptions::device, true}}};

bool fits(const Json& value, double) {
    return value.is_number();
}
bool fits(const Json& value, int64_t) {
    return value.is_number_integer();
}
bool fits(const Json& value, const std::string&) {
    return value.is_string();
}

}  // namespace

Json settings_of(const RunOptions& options) {
    RunOptions o = options;
    if (o.total_steps == 0) o.total_steps = o.steps;
    if (!o.tokens.empty()) o.tokens = std::filesystem::absolute(o.tokens).lexically_normal().string();
    Json settings = Json::object();
    for (const Setting& s : kSettings)
        std::visit([&](auto member) { settings[s.name] = o.*member; }, s.member);
    return settings;
}

Result<RunOptions> resumed_options(const RunOptions& options, const Json& recorded,
                                   const std::string& where) {
    RunOptions o = options;
    for (const Setting& s : kSettings) {
        const Result<void> taken = std::visit(
            [&](auto member) -> Result<void> {
                using Value = std::decay_t<decltype(o.*member)>;
                const auto found = recorded.find(s.name);
                if (found == recorded.end() || !fits(*found, Value()))
                    return fail(where + ", key 'settings." + s.name + "'", "is missing or of another type",
                                "what a checkpoint of this version holds");
                const auto value = found->template get<Value>();
                const bool given = o.given.contains(s.name);
                if (given && !s.may_change && o.*member != value)
                    return fail("--" + std::string(s.name), Json(o.*member).dump(),
                                found->dump() + ", as " + where + " has it, or the option left out");
                if (!given) o.*member = value;
                return {};
            },
            s.member);
        HEADROOM_CHECK(taken);
    }
    return o;
}

}  // namespace headroom::engine
