#include "gui/model/document.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "search/search.h"
#include "search/step.h"
#include "timeline/compare.h"

namespace headroom::gui {
namespace {

Result<Verdict> judge(const Scenario& scenario, Searcher& searcher) {
    return guarded(scenario.path, [&]() -> Result<Verdict> {
        HEADROOM_TRY(const Found found, searcher.roomiest(scenario.plan.budget));
        return Verdict{found.evaluation.fits(), found.evaluation.tiers};
    });
}

// A plan as it stands, and the step that is simulated for it.
struct Priced {
    Answer answer;
    StepPtr step;  // null: not asked for
};
Result<Priced> priced(const Plan& plan, bool with_step, const Progress& progress) {
    if (!with_step) {
        HEADROOM_TRY(Answer answer, headroom::answer(plan));
        return Priced{std::move(answer), nullptr};
    }
    SimulateOptions options;
    options.progress = [&](double share) { return progress("simulating", share); };
    HEADROOM_TRY(AnsweredStep step, answer_step(plan, options));
    if (!progress("statistics", -1)) return fail(plan.name, "interrupted", "", Fault::interrupted);
    return Priced{std::move(step.answer), make_step("prediction", std::move(step.timeline))};
}

// Of the plan with that hash, or with the ops of `predicted` (null: there is none yet).
Result<StepPtr> measured_run(const std::filesystem::path& path, const std::string& hash,
                             const StepPtr& predicted) {
    HEADROOM_TRY(const Opened opened, open_file(path));
    if (!opened.step || !opened.step->measured())
        return fail(path.string(),
                    opened.scenario ? "is a scenario"
                    : opened.plan   ? "is a plan"
                                    : "is a simulated timeline",
                    "the timeline of a run, as `headroom run -o` writes it");
    const Timeline& measured = opened.step->timeline;
    if (measured.plan_hash == hash) return opened.step;
    const std::string other = "is a run of another plan (hash " + measured.plan_hash + ")";
    if (!predicted)
        return fail(path.string(), other, "a run of the plan that is open, whose hash is " + hash);
    if (const Result<Comparison> c = compare(predicted->timeline, measured); !c)
        return fail(path.string(), other + ", with other operations: " + c.error().found,
                    "a run of the plan that is open, whose hash is " + hash);
    return opened.step;
}

}  // namespace

Document::Document(QObject* parent) : QObject(parent) {
    connect(&knobs_, &Knobs::changed, this, &Document::replan);
    for (Job* job : {&reading_, &judging_, &answering_, &simulating_, &gaining_, &pairing_}) {
        connect(job, &Job::busy_changed, this, &Document::tell_busy);
        connect(job, &Job::progressed, this, &Document::progressed);
    }
}

QString Document::title() const {
    return name_;
}

const Plan* Document::plan() const {
    if (answer_) return &answer_->plan;
    const StepPtr looked_at = step();
    return looked_at && looked_at->plan ? &*looked_at->plan : nullptr;
}

StepPtr Document::step() const {
    const bool first_is_measured = side_ == Side::measured;
    const StepPtr& first = first_is_measured ? measured_ : predicted_;
    return first ? first : first_is_measured ? predicted_ : measured_;
}

int64_t Document::span_ns() const {
    return std::max(predicted_ ? predicted_->duration_ns() : 0, measured_ ? measured_->duration_ns() : 0);
}

void Document::look_at(Side side) {
    if (side_ == side) return;
    side_ = side;
    Q_EMIT steps_changed();
}

bool Document::busy() const {
    return reading_.busy() || judging_.busy() || answering_.busy() || simulating_.busy() || gaining_.busy() ||
           pairing_.busy();
}

void Document::cancel() {
    for (Job* job : {&reading_, &judging_, &answering_, &simulating_, &gaining_, &pairing_}) job->cancel();
}

void Document::tell_busy() {
    if (busy() == was_busy_) return;
    was_busy_ = busy();
    Q_EMIT busy_changed(was_busy_);
}

void Document::tell(const Error& error) {
    if (error.fault != Fault::interrupted) Q_EMIT failed(error);
}

void Document::open(const std::filesystem::path& path) {
    reading_.start<Opened>([path](const Progress&) { return open_file(path); },
                           [this, path](Result<Opened> result) {
                               if (result) {
                                   take(std::move(*result), path,
                                        QString::fromStdString(path.filename().string()));
                               } else {
                                   tell(result.error());
                               }
                           });
}

void Document::forget() {
    cancel();
    scenario_ = nullptr;
    verdict_ = std::nullopt;
    answer_ = nullptr;
    answer_final_ = answer_stale_ = false;
    predicted_ = measured_ = nullptr;
    side_ = Side::predicted;
    knobs_.clear();
}

void Document::close() {
    forget();
    kind_ = Kind::none;
    path_.clear();
    name_.clear();
    Q_EMIT opened();
    Q_EMIT verdict_changed();
    Q_EMIT answer_changed();
    Q_EMIT steps_changed();
}

void Document::open_plan(Plan plan, const QString& name) {
    take(Opened{{}, std::make_shared<const Plan>(std::move(plan)), {}}, {}, name);
}

void Document::take(Opened opened_file, const std::filesystem::path& path, const QString& name) {
    forget();
    path_ = path;
    name_ = name;
    Q_EMIT cleared_error();
    if (opened_file.scenario) {
        kind_ = Kind::scenario;
        scenario_ = opened_file.scenario;
    } else if (opened_file.plan) {
        kind_ = Kind::plan;
    } else {
        kind_ = Kind::timeline;
        side_ = opened_file.step->measured() ? Side::measured : Side::predicted;
        (opened_file.step->measured() ? measured_ : predicted_) = opened_file.step;
    }
    Q_EMIT opened();
    Q_EMIT verdict_changed();
    Q_EMIT answer_changed();
    Q_EMIT steps_changed();
    if (kind_ == Kind::scenario) answer_scenario();
    if (kind_ == Kind::plan) answer_plan(*opened_file.plan);
    if (kind_ == Kind::timeline) {
        const StepPtr looked_at = step();
        if (looked_at->plan) {
            answer_plan(*looked_at->plan);
        } else {
            tell(Error{Fault::bad_input, path.string(), looked_at->plan_error, "a plan that can be read"});
        }
    }
}

void Document::set_measured(StepPtr step) {
    measured_ = std::move(step);
    Q_EMIT steps_changed();
}

void Document::open_measured(const std::filesystem::path& path) {
    const std::string hash = predicted_ ? predicted_->timeline.plan_hash : plan() ? plan_hash(*plan()) : "";
    pairing_.start<StepPtr>(
        [path, hash, predicted = predicted_](const Progress&) { return measured_run(path, hash, predicted); },
        [this](Result<StepPtr> step) {
            if (!step) return tell(step.error());
            Q_EMIT cleared_error();
            set_measured(std::move(*step));
        });
}

// A knob was turned: the file is read again with it, then answered.
void Document::replan() {
    if (kind_ != Kind::scenario) return;
    for (Job* job : {&judging_, &answering_, &simulating_, &gaining_, &pairing_}) job->cancel();
    answer_stale_ = true;
    answer_final_ = false;
    const std::vector<std::string> overrides = knobs_.overrides();
    reading_.start<Opened>([path = path_, overrides](const Progress&) { return open_file(path, overrides); },
                           [this](Result<Opened> result) {
                               if (!result) return tell(result.error());
                               if (!result->scenario) return close();  // the file became something else
                               Q_EMIT cleared_error();
                               scenario_ = result->scenario;
                               answer_scenario();
                           });
}

void Document::answer_scenario() {
    answer_final_ = false;
    measured_ = nullptr;  // of the plan before
    // Steps one after the other: what the first has lowered serves the others.
    const auto searcher = std::make_shared<Searcher>(*scenario_);
    judging_.start<Verdict>(
        [scenario = scenario_, searcher](const Progress&) { return judge(*scenario, *searcher); },
        [this, searcher](Result<Verdict> result) {
            if (!result) return tell(with_places(result.error(), *scenario_));
            verdict_ = std::move(*result);
            Q_EMIT verdict_changed();
            answering_.start<Answer>(
                [scenario = scenario_, searcher](const Progress& progress) -> Result<Answer> {
                    if (!progress("searching plans", -1))
                        return fail("", "interrupted", "", Fault::interrupted);
                    return headroom::answer_plan(*scenario, *searcher);
                },
                [this, searcher](Result<Answer> found) {
                    if (!found) return tell(with_places(found.error(), *scenario_));
                    answer_ = std::make_shared<const Answer>(std::move(*found));
                    answer_stale_ = false;
                    Q_EMIT answer_changed();
                    simulate(answer_->plan, searcher);
                });
        });
}

// Where the timeline that was opened is the prediction itself, only the answer is worked out.
void Document::answer_plan(Plan plan) {
    answering_.start<Priced>([plan = std::move(plan), stepped = predicted_ != nullptr](
                                 const Progress& progress) { return priced(plan, !stepped, progress); },
                             [this](Result<Priced> found) {
                                 if (!found) return tell(found.error());
                                 answer_ = std::make_shared<const Answer>(std::move(found->answer));
                                 verdict_ = Verdict{answer_->fits(), answer_->evaluation.tiers};
                                 answer_final_ = true;
                                 if (found->step) predicted_ = found->step;
                                 Q_EMIT verdict_changed();
                                 Q_EMIT answer_changed();
                                 if (found->step) Q_EMIT steps_changed();
                             });
}

void Document::simulate(Plan plan, std::shared_ptr<Searcher> searcher) {
    simulating_.start<StepPtr>(
        [plan = std::move(plan)](const Progress& progress) { return predicted_step(plan, progress); },
        [this, searcher = std::move(searcher)](Result<StepPtr> step) {
            if (!step) return tell(step.error());
            predicted_ = std::move(*step);
            Q_EMIT steps_changed();
            explain(searcher);
        });
}

void Document::explain(std::shared_ptr<Searcher> searcher) {
    gaining_.start<Answer>(
        [scenario = scenario_, searcher = std::move(searcher),
         known = answer_](const Progress& progress) -> Result<Answer> {
            Answer a = *known;
            AnswerOptions options;
            options.progress = progress;
            HEADROOM_CHECK(headroom::explain(*scenario, *searcher, a, options));
            return a;
        },
        [this](Result<Answer> found) {
            if (!found) return tell(with_places(found.error(), *scenario_));
            answer_ = std::make_shared<const Answer>(std::move(*found));
            answer_final_ = true;
            Q_EMIT answer_changed();
        });
}

}  // namespace headroom::gui
