// The whole sequence at once, with layer checkpoints: what most trainers do. One chunk as long as the
// context; the loss in tiles of tokens (fused), the MLP in tiles where it would not fit; layer inputs on the
// device or the host. The same on the GPUs of a ring, each with an equal part of the tokens: the strategy
// 'ring'.
#include "base/text.h"
#include "program/chunk_step.h"
#include "strategy/grid.h"
#include "strategy/strategies.h"

namespace headroom {
namespace {

Result<void> check_one_chunk(const Plan& plan) {
    const Decisions& d = plan.decisions;
    if (plan.chunks() != 1) {
        return fail("key 'plan.chunk'", format_tokens(d.chunk) + " tokens with strategy '" + d.strategy + "'",
                    "the context rounded up to whole pages, " +
                        format_integer(round_up(plan.context.count(), d.page.count())));
    }
    if (d.attention.sparse) {
        return fail("key 'plan.attention'", "'sparse' with strategy '" + d.strategy + "'",
                    "'dense' (pages are selected by the strategy 'chunked')");
    }
    if (d.attention_outputs == AttentionOutputs::device || d.attention_outputs == AttentionOutputs::host) {
        return fail("key 'plan.attention_outputs'",
                    "'" + std::string(name_of(d.attention_outputs)) + "' with strategy '" + d.strategy + "'",
                    "'chunk' or 'recompute' (there is no fill pass that could keep them)");
    }
    return {};
}

Grid one_chunk_grid(const Scenario& scenario, std::string_view strategy, int64_t ring_ranks) {
    Grid grid(scenario, strategy, 1, ring_ranks);
    const Plan& plan = scenario.plan;
    grid.set("chunk", &Decisions::chunk, Tokens(round_up(plan.context.count(), plan.decisions.page.count())));
    grid.option("activations", &Decisions::activations,
                std::vector<Activations>{Activations::checkpoint_device, Activations::checkpoint_host,
                                         Activations::keep});
    grid.option("attention_outputs", &Decisions::attention_outputs,
                std::vector<AttentionOutputs>{AttentionOutputs::recompute, AttentionOutputs::chunk});
    grid.option("mlp_tile", &Decisions::mlp_tile, std::vector<Tokens>{Tokens(0), Tokens(16384)});
    home_options(grid, scenario, ring_ranks > 1);
    return grid;
}

class WholeSequence final : public Strategy {
public:
    std::string_view name() const override { return "whole-sequence"; }
    std::string_view summary() const override {
        return "all tokens through each layer at once, layer checkpoints on the device or the host";
    }
    Result<void> check(const Plan& plan) const override {
        for (const auto& [key, ranks] : {std::pair{"tensor_ranks", plan.decisions.tensor_ranks},
                                         {"ring_ranks", plan.decisions.ring_ranks}}) {
            if (ranks == 1) continue;
            return fail("key 'plan." + std::string(key) + "'",
                        std::to_string(ranks) + " with strategy 'whole-sequence'",
                        "1 (several GPUs: 'ring' or 'tensor-parallel')");
        }
        HEADROOM_CHECK(check_no_shards(plan.decisions));
        return check_one_chunk(plan);
    }
    void candidates(const Scenario& scenario,
                    const std::function<void(const Decisions&)>& visit) const override {
        one_chunk_grid(scenario, name(), 1).visit(visit);
    }
    Program lower(const Plan& plan, const SelectionSet& selections,
                  const LowerOptions& options) const override {
        return chunk_step(plan, selections, {{}, options.sizes_only});
    }
};

// Ranks sum their gradients over the peer link, so sums stand on the device (or its shards); a rank that
// updates a shard alone sends it to the others' devices, where whole weights must stand (adapters always do).
Result<void> check_homes(const Decisions& d, bool lora) {
    if (d.gradients_home == Home::host) {
        return fail("key 'plan.gradients_home'", "'host' with strategy 'ring'",
                    "'device' or 'ranks': gradients are summed over the ranks' devices");
    }
    const bool sharded = d.gradients_home == Home::ranks || d.states_home == Home::ranks;
    if (d.weights_home == Home::host && sharded && !lora) {
        return fail("key 'plan.weights_home'", "'host' with gradients or states sharded over 'ranks'",
                    "'device' or 'ranks', where the updated shards are gathered");
    }
    return {};
}

class Ring final : public Strategy {
public:
    std::string_view name() const override { return "ring"; }
    std::string_view summary() const override {
        return "the sequence divided over GPUs, K and V passing around the ring while attention runs";
    }
    Result<void> check(const Plan& plan) const override {
        if (plan.decisions.ring_ranks < 2 || plan.decisions.tensor_ranks != 1) {
            return fail("key 'plan.ring_ranks'",
                        std::to_string(plan.decisions.ring_ranks) + " with strategy 'ring'",
                        "2 or more, with tensor_ranks = 1");
        }
        HEADROOM_CHECK(check_homes(plan.decisions, plan.recipe.lora_rank > 0));
        return check_one_chunk(plan);
    }
    void candidates(const Scenario& scenario,
                    const std::function<void(const Decisions&)>& visit) const override {
        if (scenario.gpus > 1) one_chunk_grid(scenario, name(), scenario.gpus).visit(visit);
    }
    Program lower(const Plan& plan, const SelectionSet& selections,
                  const LowerOptions& options) const override {
        return chunk_step(plan, selections, {{}, options.sizes_only});
    }
};

}  // namespace

const Strategy& whole_sequence() {
    static const WholeSequence strategy;
    return strategy;
}
const Strategy& ring_attention() {
    static const Ring strategy;
    return strategy;
}

}  // namespace headroom
