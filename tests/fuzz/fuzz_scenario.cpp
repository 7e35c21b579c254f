// Scenario TOML; the part behind a line "---" is an override (--set). Shipped models and hardware are there.
#include <string>
#include <vector>

#include "input.h"
#include "plan/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    std::string_view text = text_of(data, size);
    std::vector<std::string> overrides;
    if (const size_t at = text.find("\n---\n"); at != std::string_view::npos) {
        overrides.emplace_back(text.substr(at + 5));
        text = text.substr(0, at + 1);
    }
    const std::string source = HEADROOM_SOURCE_DIR;
    const Result<Scenario> scenario = parse_scenario(text, "fuzz", source + "/scenarios", source, overrides);
    if (scenario) (void)check_plan(scenario->plan, "fuzz");
    return 0;
}
