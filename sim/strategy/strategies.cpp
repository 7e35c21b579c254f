#include "strategy/strategies.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"

namespace headroom {

std::span<const Strategy* const> strategies() {
    static const std::array<const Strategy*, 5> all{&chunked(), &whole_sequence(), &layer_major(), &ring_attention(),
                                                    &tensor_parallel()};
    return all;
}

const Strategy* find_strategy(std::string_view name) {
    for (const Strategy* s : strategies()) {
        if (s->name() == name) return s;
    }
    return nullptr;
}

namespace {

Result<const Strategy*> usable(const Plan& plan) {
    const Strategy* strategy = find_strategy(plan.decisions.strategy);
    if (strategy == nullptr) {
        std::vector<std::string> names;
        for (const Strategy* s : strategies()) names.emplace_back(s->name());
        const std::string near = nearest(plan.decisions.strategy, names);
        return fail("key 'plan.strategy'",
                    "'" + plan.decisions.strategy + "'" + (near.empty() ? "" : " (did you mean '" + near + "'?)"),
                    one_of(names));
    }
    HEADROOM_CHECK(strategy->check(plan));
    // A dense chunk attends its past in pieces, each with a handful of ops.
    const double chunk_layers = static_cast<double>(plan.chunks()) * static_cast<double>(plan.model.layer_count()) *
                                static_cast<double>(plan.recipe.batch);
    if (chunk_layers * 48 > static_cast<double>(kMaxOps)) {
        return fail("key 'plan.chunk'", format_tokens(plan.decisions.chunk) + " tokens make a step of more than " +
                                            format_integer(kMaxOps) + " operations",
                    "a larger chunk, or a smaller batch");
    }
    return strategy;
}

}  // namespace

Result<Program> lower(const Plan& plan) {
    HEADROOM_TRY(const Strategy* strategy, usable(plan));
    return strategy->lower(plan, select_pages(plan));
}

Result<Program> lower(const Plan& plan, const SelectionSet& selections) {
    HEADROOM_TRY(const Strategy* strategy, usable(plan));
    return strategy->lower(plan, selections);
}

}  // namespace headroom
