// Sparse attention: its own numbers, and that a selection belongs to them.
#include <fmt/format.h>

#include "base/text.h"
#include "plan/check.h"

namespace headroom {
namespace {

Result<void> check_share(const std::string& where, const char* key, double share) {
    if (share >= 0 && share <= 1) return {};  // false for a NaN
    return fail(key_place(where, std::string("selection.") + key), fmt::format("{}", share),
                "a share from 0 to 1");
}

Result<void> check_number(const std::string& where, const char* key, double value, double low, double high) {
    if (value >= low && value <= high) return {};  // false for a NaN
    return fail(key_place(where, std::string("selection.") + key), fmt::format("{}", value),
                fmt::format("{} to {}", low, high));
}

// A recorded selection counts for exactly the pages, chunks and blocks that it was recorded with.
Result<void> check_record(const Plan& p, const std::string& where, const RecordedSelection& record) {
    const Decisions& d = p.decisions;
    const struct {
        const char *key, *name;
        int64_t recorded, planned;
    } same[] = {{"plan.page", "page", record.page, d.page.count()},
                {"plan.chunk", "chunk", record.chunk, d.chunk.count()},
                {"plan.attention.budget", "budget", record.budget, d.attention.budget},
                {"plan.attention.block", "block", record.block, d.attention.block}};
    for (const auto& s : same) {
        if (s.recorded != s.planned) {
            return fail(key_place(where, s.key), fmt::format("{}", s.planned),
                        fmt::format("{}, the {} of the recorded selection", s.recorded, s.name));
        }
    }
    if (record.chunks < p.chunks()) {
        return fail(key_place(where, "context"),
                    fmt::format("{} tokens are {} chunks", p.context.count(), p.chunks()),
                    fmt::format("at most the {} chunks of the recorded selection", record.chunks));
    }
    return {};
}

}  // namespace

Result<void> check_attention(const Plan& p, const std::string& where) {
    const SelectionModel& s = p.selection;
    HEADROOM_CHECK(check_share(where, "block_reuse", s.block_reuse));
    HEADROOM_CHECK(check_share(where, "chunk_reuse", s.chunk_reuse));
    HEADROOM_CHECK(check_number(where, "popularity", s.popularity, 0, kMaxPopularity));
    HEADROOM_CHECK(check_number(where, "recency", s.recency, kMinRecency, kMaxRecency));
    HEADROOM_CHECK(check_number(where, "neighbours", s.neighbours, 0, kMaxNeighbours));
    HEADROOM_CHECK(check_number(where, "spread", s.spread, 0, kMaxSpread));
    const Attention& a = p.decisions.attention;
    const std::string key = "plan.attention.";
    HEADROOM_CHECK(check_range(where, key + "sink", a.sink, 0, kMaxContext, "pages"));
    HEADROOM_CHECK(check_range(where, key + "local", a.local, 0, kMaxContext, "pages"));
    HEADROOM_CHECK(check_range(where, key + "budget", a.budget, 1, kMaxContext, "pages"));
    HEADROOM_CHECK(check_range(where, key + "block", a.block, 1, kMaxContext, "tokens"));
    HEADROOM_CHECK(check_range(where, key + "waiting", a.waiting, 0, kMaxContext, "pages"));
    if (!a.sparse) return {};

    if (a.budget <= a.sink + a.local) {
        return fail(key_place(where, key + "budget"), fmt::format("{} pages", a.budget),
                    fmt::format("more than sink and local together, {}", a.sink + a.local));
    }
    // What the last chunk selects waits at once.
    if (a.waiting != 0 && a.waiting < a.budget) {
        return fail(key_place(where, key + "waiting"), fmt::format("{} pages", a.waiting),
                    fmt::format("0 (any number), or at least the budget, {}", a.budget));
    }
    const int64_t chunk = p.decisions.chunk.count();
    if (chunk % a.block != 0) {
        return fail(key_place(where, key + "block"), fmt::format("{} tokens", a.block),
                    fmt::format("a divisor of the chunk, {} tokens", chunk));
    }
    const int64_t picks = checked_mul(checked_mul(p.chunks(), chunk / a.block), a.budget);
    if (picks > kMaxPicks) {
        return fail(key_place(where, key + "budget"),
                    fmt::format("{} pages for each of {} blocks", a.budget, format_integer(picks / a.budget)),
                    fmt::format("at most {} page picks a layer: a larger block or a smaller budget",
                                format_integer(kMaxPicks)));
    }
    if (p.selection.recorded) return check_record(p, where, *p.selection.recorded);
    return {};
}

}  // namespace headroom
