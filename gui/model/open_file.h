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
//
// A measured timeline comes with what its run selected, where that lies beside it (selection_beside()).
Result<Opened> open_file(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});

// Where a run of a sparse plan records its selection: NAME.selection.json for NAME.trace.json.gz. The same
// file gzipped, with .gz behind it, is read too.
std::filesystem::path selection_beside(const std::filesystem::path& timeline);

}  // namespace headroom::gui
