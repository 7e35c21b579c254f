#include "search/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "search/gains.h"
#include "search/remedies.h"
#include "search/search.h"
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
    try {
        if (options.gains && a.fits()) {
            HEADROOM_CHECK(say(options, "pricing more of each budget"));
            a.gains = gains(scenario, searcher, a, a.sampled_ns);
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

Result<Answer> answer(const Scenario& scenario, const AnswerOptions& options) {
    HEADROOM_CHECK(say(options, "searching plans"));
    Searcher searcher(scenario);
    HEADROOM_TRY(Answer a, answer_plan(scenario, searcher));
    HEADROOM_CHECK(explain(scenario, searcher, a, options));
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

}  // namespace headroom
