// The chunked step on several GPUs that divide projections, heads and MLP columns; two sums over the peer
// link per layer and direction. Source of the split: Megatron-LM (arXiv 1909.08053), section 3.
#include "program/chunk_step.h"
#include "strategy/chunked_grid.h"
#include "strategy/strategies.h"

namespace headroom {
namespace {

class TensorParallel final : public Strategy {
public:
    std::string_view name() const override { return "tensor-parallel"; }
    std::string_view summary() const override {
        return "chunked, with projections, heads, K and V divided over the GPUs of one peer link";
    }
    Result<void> check(const Plan& plan) const override {
        if (plan.decisions.tensor_ranks < 2) {
            return fail("key 'plan.tensor_ranks'", "1 with strategy 'tensor-parallel'",
                        "2 or more ('gpus' in the scenario says how many there are)");
        }
        return check_chunked(plan);
    }
    void candidates(const Scenario& scenario,
                    const std::function<void(const Decisions&)>& visit) const override {
        if (scenario.gpus > 1) chunked_grid(scenario, name(), scenario.gpus).visit(visit);
    }
    Program lower(const Plan& plan, const SelectionSet& selections,
                  const LowerOptions& options) const override {
        return chunk_step(plan, selections, options);
    }
};

}  // namespace

const Strategy& tensor_parallel() {
    static const TensorParallel strategy;
    return strategy;
}

}  // namespace headroom
