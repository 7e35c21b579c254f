#include "gui/model/step.h"

namespace headroom::gui {

StepPtr make_step(QString name, Timeline timeline) {
    auto step = std::make_shared<Step>();
    step->name = std::move(name);
    step->timeline = std::move(timeline);
    step->statistics = statistics_of(step->timeline);
    step->index = index_of(step->timeline);
    Result<Plan> plan = parse_plan(step->timeline.plan, step->name.toStdString());
    if (plan) {
        step->plan = std::move(*plan);
    } else {
        step->plan_error = plan.error().text();
    }
    return step;
}

}  // namespace headroom::gui
