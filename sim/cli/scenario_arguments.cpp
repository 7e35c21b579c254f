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
    HEADROOM_CHECK(check_strategy(scenario));
    return scenario;
}

}  // namespace headroom::cli
