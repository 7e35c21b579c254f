#include <algorithm>
#include <optional>
#include <utility>

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

// Looks for the largest context in three steps: doubling, by score; halving between, by score, with the
// decisions that left most room at both ends; then page counts around what the scores say, every candidate
// lowered for its exact bytes. The last step alone decides: it ends where p pages fit and p + 1 do not.
class LargestContext {
public:
    explicit LargestContext(const Scenario& scenario, const Progress& progress)
        : scenario_(scenario), page_(scenario.plan.decisions.page.count()), progress_(progress) {}

    Result<MaxContext> find() {
        HEADROOM_TRY(int64_t low, largest_by_score());
        const int64_t most = kMaxContext / page_;
        // Outwards from there, exactly.
        int64_t high = 0, step = 1;
        low = std::max<int64_t>(1, low);
        HEADROOM_TRY(bool fits, exact(low));
        if (fits) {
            while (fits && low < most) {
                high = std::min(most, low + step);
                HEADROOM_TRY(fits, exact(high));
                if (fits) low = high;
                step *= 2;
            }
            if (fits) high = most + 1;
        } else {
            while (!fits) {
                if (low == 1) return none();
                high = low;
                low = std::max<int64_t>(1, low - step);
                HEADROOM_TRY(fits, exact(low));
                step *= 2;
            }
        }
        while (low + 1 < high) {
            const int64_t middle = low + (high - low) / 2;
            HEADROOM_TRY(fits, exact(middle));
            (fits ? low : high) = middle;
        }
        return result(low, high);
    }

private:
    Result<void> say(int64_t pages) {
        if (!progress_ ||
            progress_("context " + format_tokens(Tokens(pages * page_)), std::min(0.95, ++probes_ / 48.0)))
            return {};
        return fail("", "interrupted", "", Fault::interrupted);
    }
    tl::unexpected<Error> none() const {
        return fail(scenario_.path, "not even one page of " + std::to_string(page_) + " tokens fits",
                    "a larger budget, or another model", Fault::does_not_fit);
    }

    // The decisions that leave most room at this context; nothing where no candidate can run.
    std::optional<Decisions> fits_by_score(const Scenario& from, int64_t pages) const {
        const Scenario s = at_context(from, pages * page_);
        Searcher searcher(s);
        SearchOptions options;
        options.exact = false;
        const Result<Found> found = searcher.roomiest(s.plan.budget, options);
        if (!found || excess_of(found->score, s.plan.budget) > 0) return {};
        return found->plan.decisions;
    }

    // Everything fixed as in `decisions` but what the search works out for each context: the shares of pages.
    Scenario like(const Decisions& decisions, int64_t pages) const {
        Scenario s = at_context(scenario_, pages * page_);
        const bool kv = s.fixed.contains("kv"), gradients = s.fixed.contains("kv_gradients");
        const Decisions before = s.plan.decisions;
        s.plan.decisions = decisions;
        visit_decisions(decisions, [&](const char* key, const auto&) { s.fixed.insert(key); });
        if (!kv) {
            s.fixed.erase("kv");
            s.plan.decisions.kv_residency = before.kv_residency;
        }
        if (!gradients) {
            s.fixed.erase("kv_gradients");
            s.plan.decisions.kv_gradient_residency = before.kv_gradient_residency;
        }
        return s;
    }

    Result<int64_t> largest_by_score() {
        const int64_t most = kMaxContext / page_;
        int64_t low = 0, high = 1;
        std::optional<Decisions> best;
        while (true) {
            HEADROOM_CHECK(say(high));
            const std::optional<Decisions> decisions = fits_by_score(scenario_, high);
            if (!decisions) break;
            best = decisions;
            low = high;
            if (high == most) return low;
            high = std::min(most, high * 2);
        }
        while (low > 0 && low + 1 < high) {
            const int64_t middle = low + (high - low) / 2;
            HEADROOM_CHECK(say(middle));
            // Those of the last that fitted, else any.
            std::optional<Decisions> decisions = fits_by_score(like(*best, low), middle);
            if (!decisions && high - low > low / 16) decisions = fits_by_score(scenario_, middle);
            if (decisions) {
                best = decisions;
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    // Whether anything fits at this context. Error: interrupted.
    Result<bool> exact(int64_t pages) {
        HEADROOM_CHECK(say(pages));
        const Scenario s = at_context(scenario_, pages * page_);
        Searcher searcher(s);
        Result<Found> found = searcher.roomiest(s.plan.budget);
        const bool fits = found && found->evaluation.fits();
        (fits ? yes_ : no_) = std::move(found);
        return fits;
    }

    Result<MaxContext> result(int64_t low, int64_t high) {
        MaxContext result;
        result.context = Tokens(low * page_);
        result.next = Tokens(high * page_);
        AnswerOptions options;
        options.gains = options.remedies = false;
        HEADROOM_TRY(result.at, answer(at_context(scenario_, low * page_), options));
        if (!result.at.fits()) {  // the fastest candidates looked at do not; the roomiest does
            HEADROOM_TRY(result.at, answer((*yes_)->plan));
        }
        result.limit = "the largest context of any file";
        if (high > kMaxContext / page_ || !no_) return result;
        if (*no_) {
            const std::array<TierNeed, kTiers>& tiers = (*no_)->evaluation.tiers;
            size_t worst = 0;
            for (size_t t = 0; t < kTiers; ++t) {
                if (tiers[t].headroom() < tiers[worst].headroom()) worst = t;
            }
            result.limit = std::string(name_of(static_cast<Tier>(worst)));
            result.next_excess_bytes = (*no_)->evaluation.excess();
        } else {
            result.limit = no_->error().text();
        }
        return result;
    }

    const Scenario& scenario_;
    int64_t page_;
    const Progress& progress_;
    int probes_ = 0;
    std::optional<Result<Found>> yes_, no_;  // the last that fitted, the last that did not
};

}  // namespace

Result<MaxContext> max_context(const Scenario& scenario, const Progress& progress) {
    return LargestContext(scenario, progress).find();
}

}  // namespace headroom
