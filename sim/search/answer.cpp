#include "search/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "search/gains.h"
#include "search/remedies.h"
#include "search/search.h"
#include "search/step.h"
#include "strategy/strategy.h"

namespace headroom {
namespace {

Answer answer_of(Plan plan, Evaluation evaluation) {
    Answer a;
    const Statistics& s = evaluation.statistics;
    a.tokens_per_second = tokens_per_second(plan, evaluation.step_ns);
    a.mfu = mfu(plan, evaluation.step_ns);
    size_t busiest = 0;
    for (size_t i = 0; i < kStreams; ++i) {
        if (s.streams[i].busy_ns > s.streams[busiest].busy_ns) busiest = i;
    }
    a.bound_by = std::string(name_of(static_cast<Stream>(busiest)));
    a.bound_ns = s.streams[busiest].busy_ns;
    a.plan = std::move(plan);
    a.evaluation = std::move(evaluation);
    return a;
}

Result<void> say(const AnswerOptions& options, const std::string& text) {
    if (options.progress && !options.progress(text, -1.0))
        return fail("", "interrupted", "", Fault::interrupted);
    return {};
}

// `second_gpu`: null where it has not been started.
Result<void> explain(const Scenario& scenario, Searcher& searcher, Answer& a, const AnswerOptions& options,
                     SecondGpuSearch* second_gpu) {
    try {
        if (options.gains && a.fits()) {
            HEADROOM_CHECK(say(options, "pricing more of each budget"));
            std::optional<SecondGpuSearch> started_now;
            if (second_gpu == nullptr) second_gpu = &started_now.emplace(scenario);
            a.gains = gains(scenario, searcher, a, a.sampled_ns, *second_gpu);
        }
        if (options.remedies && !a.fits()) {
            HEADROOM_TRY(a.remedies, remedies(scenario, a, options.progress));
            a.remedies_tried = true;
        }
        return {};
    } catch (const Overflow& e) {
        return fail(scenario.path, e.what(), "smaller sizes");
    }
}

}  // namespace

Result<Answer> answer_plan(const Scenario& scenario, Searcher& searcher) {
    try {
        HEADROOM_TRY(Found found, searcher.best(scenario.plan.budget));
        Answer a = answer_of(std::move(found.plan), std::move(found.evaluation));
        a.scored = found.scored;
        a.simulated = found.simulated;
        a.sampled_ns = found.sampled_ns;
        return a;
    } catch (const Overflow& e) {
        return fail(scenario.path, e.what(), "smaller sizes");
    }
}

Result<void> explain(const Scenario& scenario, Searcher& searcher, Answer& a, const AnswerOptions& options) {
    return explain(scenario, searcher, a, options, nullptr);
}

Result<Answer> answer(const Scenario& scenario, const AnswerOptions& options) {
    HEADROOM_CHECK(say(options, "searching plans"));
    Searcher searcher(scenario);
    // Beside the search on one GPU, much of which is one thread's work.
    std::optional<SecondGpuSearch> second_gpu;
    if (options.gains) second_gpu.emplace(scenario);
    HEADROOM_TRY(Answer a, answer_plan(scenario, searcher));
    if (!a.fits()) second_gpu.reset();  // no one will ask
    HEADROOM_CHECK(explain(scenario, searcher, a, options, second_gpu ? &*second_gpu : nullptr));
    return a;
}

Result<Answer> answer(const Plan& plan) {
    try {
        HEADROOM_CHECK(check_plan(plan, plan.name));
        HEADROOM_TRY(Evaluation e, evaluate(plan, true));
        Answer a = answer_of(plan, std::move(e));
        a.simulated = 1;
        return a;
    } catch (const Overflow& e) {
        return fail(plan.name, e.what(), "smaller sizes");
    }
}

Result<AnsweredStep> answer_step(const Plan& plan, const SimulateOptions& options) {
    try {
        HEADROOM_CHECK(check_plan(plan, plan.name));
        SimulateOptions with_memory = options;
        with_memory.memory_curve = true;
        HEADROOM_TRY(PricedStep priced, price(plan, select_pages(plan), with_memory));
        AnsweredStep step;
        step.timeline = timeline_of(plan, priced.program, std::move(priced.simulation));
        add_statistics(priced.evaluation, step.timeline);
        step.answer = answer_of(plan, std::move(priced.evaluation));
        step.answer.simulated = 1;
        return step;
    } catch (const Overflow& e) {
        return fail(plan.name, e.what(), "smaller sizes");
    }
}

}  // namespace headroom
