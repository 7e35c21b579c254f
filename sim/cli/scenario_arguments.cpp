#include <system_error>

#include "base/file.h"
#include "cli/command.h"

namespace headroom::cli {

void ScenarioArguments::add_to(CLI::App& app) {
    app.add_option("scenario", path, "The question: a scenario file (scenarios/*.toml), or the name of a shipped one")
        ->required()
        ->type_name("SCENARIO");
    app.add_option("--set", overrides,
                   "Another value for a key, in place of the file's: --set context=2Mi --set budget.host=64GiB "
                   "--set plan.chunk=8Ki ('auto': the planner decides). May be given again and again")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

Result<Scenario> ScenarioArguments::read() const {
    HEADROOM_TRY(const std::filesystem::path data, data_folder());
    std::filesystem::path file = path;
    std::error_code ignored;
    if (path.find('/') == std::string::npos && !std::filesystem::exists(file, ignored)) {
        for (const std::string& name : {path, path + ".toml"}) {
            const std::filesystem::path shipped = data / "scenarios" / name;
            if (std::filesystem::is_regular_file(shipped, ignored)) file = shipped;
        }
    }
    return read_scenario(file, data, overrides);
}

}  // namespace headroom::cli
