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

Result<const Strategy*> require_strategy(const std::string& name, const std::string& where) {
    if (const Strategy* s = find_strategy(name)) return s;
    std::vector<std::string> names;
    for (const Strategy* s : strategies()) names.emplace_back(s->name());
    const std::string near = nearest(name, names);
    return fail(where,
                "'" + name + "' is no strategy" + (near.empty() ? "" : " (did you mean '" + near + "'?)"),
                one_of(names));
}

Result<void> check_strategy(const Scenario& scenario) {
    if (!scenario.fixed.contains("strategy")) return {};
    const std::string& name = scenario.plan.decisions.strategy;
    const auto found = scenario.places.find("plan.strategy");
    const std::string place = found == scenario.places.end() ? "key 'plan.strategy'" : found->second;
    HEADROOM_TRY(const Strategy* const strategy, require_strategy(name, place));
    bool offers = false;
    strategy->candidates(scenario, [&](const Decisions&) { offers = true; });
    if (offers) return {};
    return fail(place, "'" + name + "' with " + std::to_string(scenario.gpus) + " GPU",
                "'gpus' of 2 or more in the scenario, or another strategy");
}

namespace {

// A chunk and layer take at most this many ops besides those of the past; a tile of the MLP (of a mixture,
// with adapters) and a piece of the past that many.
constexpr double kOpsOfChunk = 48, kOpsOfTile = 24, kOpsOfPiece = 24;

Result<void> check_size(const Plan& plan) {
    const double chunks = static_cast<double>(plan.chunks());
    const double steps =
        chunks * static_cast<double>(plan.model.layer_count()) * static_cast<double>(plan.recipe.batch);
    const std::string too_many =
        " tokens make a step of more than " + format_integer(kMaxOps) + " operations";
    const int64_t tile = plan.decisions.mlp_tile.count(), chunk = plan.chunk_tokens(0);
    const double tiles = tile == 0 ? 0 : static_cast<double>(ceil_div(chunk, tile));
    if (tiles > 1 && steps * (kOpsOfChunk + tiles * kOpsOfTile) > static_cast<double>(kMaxOps)) {
        return fail("key 'plan.mlp_tile'", format_tokens(plan.decisions.mlp_tile) + too_many,
                    "a larger tile");
    }
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
    HEADROOM_TRY(const Strategy* const strategy,
                 require_strategy(plan.decisions.strategy, "key 'plan.strategy'"));
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
