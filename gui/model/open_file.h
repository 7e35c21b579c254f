// Any file of the project, told apart by what it holds.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "gui/model/step.h"
#include "plan/plan.h"

namespace headroom::gui {

// Exactly one of them. A timeline comes as a Step, with its statistics.
struct Opened {
    std::shared_ptr<const Scenario> scenario;
    std::shared_ptr<const Plan> plan;
    StepPtr step;
};

// A gzip file or JSON with "traceEvents" or "otherData" near its beginning is a timeline, other JSON a plan,
// else it is a scenario. A shipped scenario may be named without folder and ending. Errors as of the readers.
// For worker threads.
Result<Opened> open_file(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});

}  // namespace headroom::gui
