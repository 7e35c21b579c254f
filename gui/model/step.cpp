#include "gui/model/step.h"

#include "base/guarded.h"
#include "search/evaluate.h"

namespace headroom::gui {

namespace {

std::shared_ptr<Step> step_of(QString name, Timeline timeline) {
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

Result<std::shared_ptr<const RecordedSelection>> selection_of(const Plan& plan,
                                                              const std::filesystem::path& file) {
    HEADROOM_TRY(RecordedSelection read, read_selection(file));
    Plan with = plan;
    with.selection.recorded = std::make_shared<const RecordedSelection>(std::move(read));
    HEADROOM_CHECK(check_plan(with, file.string()));
    return with.selection.recorded;
}

}  // namespace

StepPtr make_step(QString name, Timeline timeline) {
    return step_of(std::move(name), std::move(timeline));
}

StepPtr make_step(QString name, Timeline timeline, const std::filesystem::path& selection) {
    const std::shared_ptr<Step> step = step_of(std::move(name), std::move(timeline));
    if (!step->plan) return step;
    if (auto read = selection_of(*step->plan, selection)) {
        step->selection = std::move(*read);
    } else {
        step->selection_error = read.error().text();
    }
    return step;
}

Result<StepPtr> predicted_step(const Plan& plan, const Progress& progress) {
    return guarded(plan.name, [&]() -> Result<StepPtr> {
        SimulateOptions options;
        options.progress = [&](double share) { return progress("simulating", share); };
        HEADROOM_TRY(Timeline timeline, predict(plan, options));
        if (!progress("statistics", -1)) return fail(plan.name, "interrupted", "", Fault::interrupted);
        return make_step("prediction", std::move(timeline));
    });
}

}  // namespace headroom::gui
