#include "strategy/chunked_grid.h"

namespace headroom {

Result<void> check_chunked(const Plan& plan) {
    const Decisions& d = plan.decisions;
    if (d.ring_ranks != 1) {
        return fail("key 'plan.ring_ranks'",
                    std::to_string(d.ring_ranks) + " with strategy '" + d.strategy + "'",
                    "1 (ring attention is the strategy 'ring')");
    }
    HEADROOM_CHECK(check_no_shards(d));
    if (d.wavefront > 1 && d.fill_head) {
        return fail("key 'plan.wavefront'", "2 together with 'fill_head'", "1, or no head in the fill pass");
    }
    return {};
}

Grid chunked_grid(const Scenario& scenario, std::string_view strategy, int64_t tensor_ranks) {
    Grid grid(scenario, strategy, tensor_ranks, 1);
    const bool sparse = scenario.plan.decisions.attention.sparse;
    using Sizes = std::vector<Tokens>;
    grid.option("chunk", &Decisions::chunk, Sizes{Tokens(4096), Tokens(8192), Tokens(16384), Tokens(2048)});
    grid.option("activations", &Decisions::activations,
                std::vector<Activations>{Activations::keep, Activations::checkpoint_device});
    grid.option("attention_outputs", &Decisions::attention_outputs,
                std::vector<AttentionOutputs>{AttentionOutputs::host, AttentionOutputs::device,
                                              AttentionOutputs::chunk, AttentionOutputs::recompute});
    if (sparse) {
        grid.option("wavefront", &Decisions::wavefront, std::vector<int64_t>{1, 2});
        grid.option("page_cache", &Decisions::page_cache,
                    std::vector<Bytes>{Bytes(0), Bytes(4 * kGiB), Bytes(16 * kGiB)});
    }
    home_options(grid, scenario, false);
    travel_options(grid, scenario, !sparse);
    return grid;
}

}  // namespace headroom
