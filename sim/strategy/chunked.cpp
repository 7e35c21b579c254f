// Chunk-recurrent training (OOMB): dense or sparse, with or without offload; every residency and recompute
// choice is a decision. The authors' own policy is one plan among them (docs/strategies.md).
#include "program/chunk_step.h"
#include "strategy/chunked_grid.h"
#include "strategy/strategies.h"

namespace headroom {
namespace {

class Chunked final : public Strategy {
public:
    std::string_view name() const override { return "chunked"; }
    std::string_view summary() const override {
        return "chunk after chunk through all layers, K and V in pages (OOMB); exact, or sparse by page "
               "selection";
    }
    Result<void> check(const Plan& plan) const override {
        if (plan.decisions.tensor_ranks != 1) {
            return fail("key 'plan.tensor_ranks'",
                        std::to_string(plan.decisions.tensor_ranks) + " with strategy 'chunked'",
                        "1 (with more, the strategy is 'tensor-parallel')");
        }
        return check_chunked(plan);
    }
    void candidates(const Scenario& scenario,
                    const std::function<void(const Decisions&)>& visit) const override {
        chunked_grid(scenario, name(), 1).visit(visit);
    }
    Program lower(const Plan& plan, const SelectionSet& selections,
                  const LowerOptions& options) const override {
        return chunk_step(plan, selections, options);
    }
};

}  // namespace

const Strategy& chunked() {
    static const Chunked strategy;
    return strategy;
}

}  // namespace headroom
