#include <algorithm>

#include "base/text.h"
#include "search/answer.h"
#include "search/search.h"

namespace headroom {
namespace {

Scenario at_context(const Scenario& scenario, int64_t tokens) {
    Scenario s = scenario;
    s.plan.context = Tokens(tokens);
    // A chunk that stood for "the whole sequence" follows the context.
    if (s.fixed.count("chunk") > 0 && scenario.plan.chunks() == 1 && scenario.plan.decisions.strategy != "chunked") {
        s.plan.decisions.chunk = Tokens(round_up(tokens, s.plan.decisions.page.count()));
    }
    return s;
}

Result<Found> best_at(const Scenario& scenario, int64_t tokens, bool exact) {
    const Scenario s = at_context(scenario, tokens);
    Searcher searcher(s);
    SearchOptions options;
    options.exact = exact;
    options.op_budget = 0;
    return searcher.best(s.plan.budget, options);
}

bool score_fits(const Found& found, const Budget& budget) {
    return found.score.need_bytes[0] <= budget.device.count() && found.score.need_bytes[1] <= budget.host.count() &&
           found.score.need_bytes[2] <= budget.disk.count();
}

}  // namespace

Result<MaxContext> max_context(const Scenario& scenario, const Progress& progress) {
    const int64_t page = scenario.plan.decisions.page.count();
    const Budget budget = scenario.plan.budget;
    int probes = 0;
    const auto say = [&](int64_t pages) {
        return !progress || progress("context " + format_tokens(Tokens(pages * page)), std::min(0.95, ++probes / 40.0));
    };
    // In pages: by score first, then exactly around the edge.
    const auto scored = [&](int64_t pages) {
        const Result<Found> found = best_at(scenario, pages * page, false);
        return found && score_fits(*found, budget);
    };
    const auto exact = [&](int64_t pages) -> Result<Found> { return best_at(scenario, pages * page, true); };
    const int64_t most = kMaxContext / page;
    int64_t low = 0, high = 1;
    while (high < most && scored(high)) {
        if (!say(high)) return fail("", "interrupted", "", Fault::interrupted);
        low = high;
        high = std::min(most, high * 2);
    }
    while (low + 1 < high) {
        if (!say((low + high) / 2)) return fail("", "interrupted", "", Fault::interrupted);
        const int64_t middle = low + (high - low) / 2;
        (scored(middle) ? low : high) = middle;
    }
    // The score is near, not exact: widen until the edge lies between an exact yes and an exact no.
    Result<Found> yes = low > 0 ? exact(low) : fail("", "", "");
    int64_t step = 1;
    if (yes && yes->evaluation.fits()) {
        high = low + 1;
        while (high <= most) {
            if (!say(high)) return fail("", "interrupted", "", Fault::interrupted);
            Result<Found> further = exact(high);
            if (!further || !further->evaluation.fits()) break;
            low = high;
            yes = std::move(further);
            step *= 2;
            high = low + step;
        }
    } else {
        high = std::max<int64_t>(1, low);
        low = 0;
        for (int64_t back = high - 1; back >= 1; back -= step, step *= 2) {
            if (!say(back)) return fail("", "interrupted", "", Fault::interrupted);
            Result<Found> nearer = exact(back);
            if (nearer && nearer->evaluation.fits()) {
                low = back;
                yes = std::move(nearer);
                break;
            }
            high = back;
        }
        if (low == 0) {
            return fail(scenario.path, "not even one page of " + std::to_string(page) + " tokens fits", "a larger budget, or another model",
                        Fault::does_not_fit);
        }
    }
    Result<Found> no = exact(std::min(high, most));
    while (low + 1 < high) {
        const int64_t middle = low + (high - low) / 2;
        if (!say(middle)) return fail("", "interrupted", "", Fault::interrupted);
        Result<Found> found = exact(middle);
        if (found && found->evaluation.fits()) {
            low = middle;
            yes = std::move(found);
        } else {
            high = middle;
            no = std::move(found);
        }
    }
    MaxContext result;
    result.context = Tokens(low * page);
    result.next = Tokens(high * page);
    HEADROOM_TRY(result.at, answer(yes->plan));
    result.limit = "the largest context of any file";
    if (no && !no->evaluation.fits()) {
        size_t worst = 0;
        for (size_t t = 0; t < kTiers; ++t) {
            if (no->evaluation.tiers[t].headroom() < no->evaluation.tiers[worst].headroom()) worst = t;
        }
        result.limit = std::string(name_of(static_cast<Tier>(worst)));
        result.next_excess_bytes = no->evaluation.excess();
    } else if (!no) {
        result.limit = no.error().text();
    }
    return result;
}

}  // namespace headroom
