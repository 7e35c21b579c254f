#include "strategy/strategies.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "program/past.h"

namespace headroom {

std::span<const Strategy* const> strategies() {
    static const std::array<const Strategy*, 5> all{&chunked(), &whole_sequence(), &layer_major(),
                                                    &ring_attention(), &tensor_parallel()};
    return all;
}

const Strategy* find_strategy(std::string_view name) {
    for (const Strategy* s : strategies()) {
        if (s->name() == name) return s;
    }
    return nullptr;
}

namespace {

// A chunk and layer take at most this many ops besides those of the past, a piece of the past that many.
constexpr double kOpsOfChunk = 48, kOpsOfPiece = 24;

Result<void> check_size(const Plan& plan) {
    const double chunks = static_cast<double>(plan.chunks());
    const double steps =
        chunks * static_cast<double>(plan.model.layer_count()) * static_cast<double>(plan.recipe.batch);
    const std::string too_many =
        " tokens make a step of more than " + format_integer(kMaxOps) + " operations";
    if (steps * kOpsOfChunk > static_cast<double>(kMaxOps)) {
        return fail("key 'plan.chunk'", format_tokens(plan.decisions.chunk) + too_many,
                    "a larger chunk, or a smaller batch");
    }
    if (plan.chunks() == 1) return {};
    // Dense layers, also the windowed ones of a sparse plan, attend in pieces of a staging slot.
    int64_t longest = 0;
    double pieces = 0;
    const int64_t piece = past_piece_tokens(plan), past = (plan.chunks() - 1) * plan.decisions.chunk.count();
    for (const Layer& layer : plan.model.layers) {
        const int64_t window = plan.decisions.honour_windows ? layer.window : 0;
        if (plan.decisions.attention.sparse && window == 0) continue;
        const int64_t most =
            ceil_div(visible_past(past, window), piece) + 3;  // cut where pages change their place
        longest = std::max(longest, most);
        pieces += chunks * static_cast<double>(window == 0 ? most / 2 : most) *
                  static_cast<double>(plan.recipe.batch);
    }
    if (longest > kMaxPieces || pieces * kOpsOfPiece > static_cast<double>(kMaxOps)) {
        return fail("key 'plan.staging_slot'", "pieces of " + format_tokens(Tokens(piece)) + too_many,
                    "a larger slot, or a larger chunk");
    }
    return {};
}

Result<const Strategy*> usable(const Plan& plan) {
    const Strategy* strategy = find_strategy(plan.decisions.strategy);
    if (strategy == nullptr) {
        std::vector<std::string> names;
        for (const Strategy* s : strategies()) names.emplace_back(s->name());
        const std::string near = nearest(plan.decisions.strategy, names);
        return fail(
            "key 'plan.strategy'",
            "'" + plan.decisions.strategy + "'" + (near.empty() ? "" : " (did you mean '" + near + "'?)"),
            one_of(names));
    }
    HEADROOM_CHECK(strategy->check(plan));
    HEADROOM_CHECK(check_size(plan));
    return strategy;
}

}  // namespace

Result<Program> lower(const Plan& plan) {
    HEADROOM_TRY(const Strategy* strategy, usable(plan));
    return strategy->lower(plan, select_pages(plan));
}

Result<Program> lower(const Plan& plan, const SelectionSet& selections, const LowerOptions& options) {
    HEADROOM_TRY(const Strategy* strategy, usable(plan));
    return strategy->lower(plan, selections, options);
}

}  // namespace headroom
