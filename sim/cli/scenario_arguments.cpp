#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "strategy/strategy.h"

namespace headroom::cli {

void ScenarioArguments::add_to(CLI::App& app) {
    app.add_option("scenario", path,
                   "The question: a scenario file (scenarios/*.toml), or the name of a shipped one")
        ->required()
        ->type_name("SCENARIO");
    app.add_option(
           "--set", overrides,
           "Replace a key of the file: context=2Mi, budget.host=64GiB, plan.chunk=auto; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

Result<Scenario> ScenarioArguments::read() const {
    HEADROOM_TRY(const std::filesystem::path data, data_folder());
    std::filesystem::path file = path;
    std::error_code ignored;
    if (path.empty())
        return fail("SCENARIO", "an empty name",
                    "a scenario file, or a name from " + (data / "scenarios").string());
    if (path.find('/') == std::string::npos && !std::filesystem::exists(file, ignored)) {
        for (const std::string& name : {path, path + ".toml"}) {
            const std::filesystem::path shipped = data / "scenarios" / name;
            if (std::filesystem::is_regular_file(shipped, ignored)) file = shipped;
        }
        if (file == path) {
            std::vector<std::string> names;
            for (const auto& entry : std::filesystem::directory_iterator(data / "scenarios", ignored))
                names.push_back(entry.path().stem());
            std::sort(names.begin(), names.end());  // of several that are near always the same
            const std::string near = nearest(path, names);
            return fail(path,
                        "it does not exist, and no shipped scenario is called that" +
                            (near.empty() ? "" : " (did you mean '" + near + "'?)"),
                        "a scenario file, or a name from " + (data / "scenarios").string());
        }
    }
    HEADROOM_TRY(Scenario scenario, read_scenario(file, data, overrides));
    if (!scenario.fixed.contains("strategy")) return scenario;
    const std::string& name = scenario.plan.decisions.strategy;
    const std::string& place = scenario.places["plan.strategy"];
    HEADROOM_CHECK(check_strategy(name, place));
    bool offers = false;
    find_strategy(name)->candidates(scenario, [&](const Decisions&) { offers = true; });
    if (!offers) {
        return fail(place, "'" + name + "' with " + std::to_string(scenario.gpus) + " GPU",
                    "'gpus' of 2 or more in the scenario, or another strategy");
    }
    return scenario;
}

Result<void> check_strategy(const std::string& name, const std::string& where) {
    if (find_strategy(name) != nullptr) return {};
    std::vector<std::string> names;
    for (const Strategy* s : strategies()) names.emplace_back(s->name());
    const std::string near = nearest(name, names);
    return fail(where,
                "'" + name + "' is no strategy" + (near.empty() ? "" : " (did you mean '" + near + "'?)"),
                one_of(names));
}

}  // namespace headroom::cli
