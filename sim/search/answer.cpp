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

}  // namespace

Result<Answer> answer(const Scenario& scenario, const AnswerOptions& options) {
    try {
        const auto say = [&](const std::string& text) {
            return !options.progress || options.progress(text, -1.0);
        };
        if (!say("searching plans")) return fail("", "interrupted", "", Fault::interrupted);
        Searcher searcher(scenario);
        HEADROOM_TRY(Found found, searcher.best(scenario.plan.budget));
        Answer a = answer_of(std::move(found.plan), std::move(found.evaluation));
        a.scored = found.scored;
        a.simulated = found.simulated;
        if (options.gains && a.fits()) {
            if (!say("pricing more of each budget")) return fail("", "interrupted", "", Fault::interrupted);
            a.gains = gains(scenario, searcher, a, found.sampled_ns);
        }
        if (options.remedies && !a.fits()) {
            HEADROOM_TRY(a.remedies, remedies(scenario, a, options.progress));
            a.remedies_tried = true;
        }
        return a;
    } catch (const Overflow& e) {
        return fail(scenario.path, e.what(), "smaller sizes");
    }
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
