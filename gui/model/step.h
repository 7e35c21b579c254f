// A step that is looked at: its timeline and what is worked out of it once. Immutable, shared between views
// and worker threads.
#pragma once

#include <QString>
#include <filesystem>
#include <memory>
#include <optional>

#include "gui/model/job.h"
#include "gui/model/step_index.h"
#include "plan/plan.h"
#include "timeline/statistics.h"
#include "timeline/timeline.h"

namespace headroom::gui {

struct Step {
    QString name;  // of its file, or "prediction"
    Timeline timeline;
    Statistics statistics;
    StepIndex index;
    // The plan inside the timeline; absent where it cannot be read (`plan_error` says why: a recorded
    // selection that is gone, say).
    std::optional<Plan> plan;
    std::string plan_error;
    // Of a measured run: the pages that it selected, where they were recorded beside its timeline
    // (open_file.h). Apart from `plan`, which a prediction is made of and which must know nothing of a run.
    std::shared_ptr<const RecordedSelection> selection;
    std::string selection_error;  // why it is not there, where there was a file

    bool measured() const { return timeline.source == "measured"; }
    int64_t duration_ns() const { return statistics.duration_ns; }
};
using StepPtr = std::shared_ptr<const Step>;

// Cost: as statistics_of; a second or less for a million ops. For worker threads.
StepPtr make_step(QString name, Timeline timeline);
// The same of a run whose selection was recorded in that file; one of another plan is an error of the step's.
StepPtr make_step(QString name, Timeline timeline, const std::filesystem::path& selection);

// The step that is predicted of a plan. Errors: as predict(); interrupted. Cost: as predict(). For worker
// threads.
Result<StepPtr> predicted_step(const Plan& plan, const Progress& progress);

}  // namespace headroom::gui
