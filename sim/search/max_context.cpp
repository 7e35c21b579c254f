#include <algorithm>

#include "base/text.h"
#include "search/answer.h"
#include "search/search.h"

namespace headroom {
namespace {

// What the file fixes for the whole sequence (one chunk, all chunks on disk) follows the context.
Scenario at_context(const Scenario& scenario, int64_t tokens) {
    Scenario s = scenario;
    s.plan.context = Tokens(tokens);
    Decisions& d = s.plan.decisions;
    const int64_t chunks = scenario.plan.chunks();
    if (s.fixed.count("chunk") > 0 && chunks == 1 && d.strategy != "chunked") {
        d.chunk = Tokens(round_up(tokens, d.page.count()));
    }
    for (Residency* r : {&d.kv_residency, &d.kv_gradient_residency}) {
        if (r->disk_chunks > 0 && r->disk_chunks == chunks) r->disk_chunks = s.plan.chunks();
        r->device_chunks = std::min(r->device_chunks, s.plan.chunks());
        r->disk_chunks = std::min(r->disk_chunks, s.plan.chunks() - r->device_chunks);
    }
    return s;
}

// The plan that leaves most room at this context, its bytes exact.
Result<Found> roomiest_at(const Scenario& scenario, int64_t tokens) {
    const Scenario s = at_context(scenario, tokens);
    Searcher searcher(s);
    return searcher.roomiest(s.plan.budget);
}

}  // namespace

Result<MaxContext> max_context(const Scenario& scenario, const Progress& progress) {
    const int64_t page = scenario.plan.decisions.page.count();
    int probes = 0;
    const auto say = [&](int64_t pages) {
        return !progress ||
               progress("context " + format_tokens(Tokens(pages * page)), std::min(0.95, ++probes / 40.0));
    };
    const auto exact = [&](int64_t pages) { return roomiest_at(scenario, pages * page); };
    const int64_t most = kMaxContext / page;
    int64_t low = 0, high = 1;
    Result<Found> yes = fail("", "");
    while (true) {  // doubling until something does not fit
        if (!say(high)) return fail("", "interrupted", "", Fault::interrupted);
        Result<Found> found = exact(high);
        if (!found || !found->evaluation.fits()) break;
        low = high;
        yes = std::move(found);
        if (high == most) break;
        high = std::min(most, high * 2);
    }
    if (low == 0) {
        return fail(scenario.path, "not even one page of " + std::to_string(page) + " tokens fits",
                    "a larger budget, or another model", Fault::does_not_fit);
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
    AnswerOptions options;
    options.gains = options.remedies = false;
    HEADROOM_TRY(result.at, answer(at_context(scenario, low * page), options));
    if (!result.at.fits()) {  // the fastest candidates looked at do not; the roomiest does
        HEADROOM_TRY(result.at, answer(yes->plan));
    }
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
