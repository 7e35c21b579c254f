#include "search/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "base/text.h"
#include "search/gains.h"
#include "search/interruption.h"
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
    if (options.progress && !options.progress(text, -1.0)) return interruption();
    return {};
}

Answer answer_of(Found found) {
    Answer a = answer_of(std::move(found.plan), std::move(found.evaluation));
    a.scored = found.scored;
    a.simulated = found.simulated;
    a.sampled_ns = found.sampled_ns;
    return a;
}

Result<void> add_remedies(const Scenario& scenario, const AnswerOptions& options, Answer& a) {
    if (!options.remedies || a.fits()) return {};
    HEADROOM_TRY(a.remedies, remedies(scenario, a, options.progress));
    a.remedies_tried = true;
    return {};
}

constexpr const char* kPricing = "pricing more of each budget";

}  // namespace

Result<Answer> answer_plan(const Scenario& scenario, Searcher& searcher) {
    return guarded(scenario.path, [&]() -> Result<Answer> {
        HEADROOM_TRY(Found found, searcher.best(scenario.plan.budget));
        return answer_of(std::move(found));
    });
}

Result<void> explain(const Scenario& scenario, Searcher& searcher, Answer& a, const AnswerOptions& options) {
    return guarded(scenario.path, [&]() -> Result<void> {
        if (options.gains && a.fits()) {
            HEADROOM_CHECK(say(options, kPricing));
            SecondGpuSearch second_gpu(scenario);
            a.gains = gains(widen(scenario, searcher, second_gpu), a);
        }
        return add_remedies(scenario, options, a);
    });
}

// The same as answer_plan() and explain(), with what is independent on threads of its own: the search on two
// GPUs from the start, and the exact step beside the searches with more of each budget.
Result<Answer> answer(const Scenario& scenario, const AnswerOptions& options) {
    return guarded(scenario.path, [&]() -> Result<Answer> {
        HEADROOM_CHECK(say(options, "searching plans"));
        Searcher searcher(scenario);
        std::optional<SecondGpuSearch> second_gpu;
        if (options.gains) second_gpu.emplace(scenario);
        HEADROOM_TRY(const Searcher::Ranking ranking, searcher.rank(scenario.plan.budget));
        const bool fits = ranking.fits();
        if (!fits) second_gpu.reset();  // no one will ask
        if (options.gains && fits) HEADROOM_CHECK(say(options, kPricing));
        std::future<std::vector<Widened>> searches;
        if (options.gains && fits) {
            searches = std::async(std::launch::async, [&] { return widen(scenario, searcher, *second_gpu); });
        }
        Result<Found> found = searcher.simulate_best(ranking);
        const std::vector<Widened> widened = searches.valid() ? searches.get() : std::vector<Widened>();
        if (!found) return tl::unexpected<Error>(found.error());
        Answer a = answer_of(std::move(*found));
        if (a.fits() == fits) {
            if (a.fits()) a.gains = gains(widened, a);
            HEADROOM_CHECK(add_remedies(scenario, options, a));
        } else {  // scores are near, not exact
            HEADROOM_CHECK(explain(scenario, searcher, a, options));
        }
        return a;
    });
}

Result<Answer> answer(const Plan& plan) {
    return guarded(plan.name, [&]() -> Result<Answer> {
        HEADROOM_CHECK(check_plan(plan, plan.name));
        HEADROOM_TRY(Evaluation e, evaluate(plan, true));
        Answer a = answer_of(plan, std::move(e));
        a.simulated = 1;
        return a;
    });
}

Result<AnsweredStep> answer_step(const Plan& plan, const SimulateOptions& options) {
    return guarded(plan.name, [&]() -> Result<AnsweredStep> {
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
    });
}

}  // namespace headroom
