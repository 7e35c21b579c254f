// A step that is looked at: its timeline and what is worked out of it once. Immutable, shared between views
// and worker threads.
#pragma once

#include <QString>
#include <memory>
#include <optional>

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

    bool measured() const { return timeline.source == "measured"; }
    int64_t duration_ns() const { return statistics.duration_ns; }
};
using StepPtr = std::shared_ptr<const Step>;

// Cost: as statistics_of; a second or less for a million ops. For worker threads.
StepPtr make_step(QString name, Timeline timeline);

}  // namespace headroom::gui
