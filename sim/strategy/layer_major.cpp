// Layer-major order: all chunks through one layer, then the next. Keeps one layer's pages; hidden states
// stream.
#include "program/layer_step.h"
#include "strategy/grid.h"
#include "strategy/strategies.h"

namespace headroom {
namespace {

class LayerMajor final : public Strategy {
public:
    std::string_view name() const override { return "layer-major"; }
    std::string_view summary() const override {
        return "all chunks through one layer, then the next: little traffic, hidden states of every layer "
               "kept";
    }
    Result<void> check(const Plan& plan) const override {
        const Decisions& d = plan.decisions;
        const int64_t layers = plan.model.layer_count();
        const auto refuse = [](const std::string& key, const std::string& found, const std::string& allowed) {
            return fail("key 'plan." + key + "'", found + " with strategy 'layer-major'", allowed);
        };
        if (d.tensor_ranks != 1) return refuse("tensor_ranks", std::to_string(d.tensor_ranks), "1");
        if (d.ring_ranks != 1) return refuse("ring_ranks", std::to_string(d.ring_ranks), "1");
        HEADROOM_CHECK(check_no_shards(d));
        if (d.attention.sparse) return refuse("attention", "'sparse'", "'dense'");
        if (d.activations == Activations::keep) {
            return refuse("activations", "'keep'", "'checkpoint_device' or 'checkpoint_host'");
        }
        if (d.attention_outputs != AttentionOutputs::recompute) {
            return refuse("attention_outputs", "'" + std::string(name_of(d.attention_outputs)) + "'",
                          "'recompute'");
        }
        for (const auto& [key, r] :
             {std::pair{"kv", d.kv_residency}, {"kv_gradients", d.kv_gradient_residency}}) {
            if (r.device_layers != layers)
                return refuse(key, "pages off the device", "\"device\": one layer's pages at a time");
        }
        if (d.gradient_pages == GradientPages::all_at_once)
            return refuse("gradient_pages", "'all_at_once'", "'first_touch'");
        if (d.wavefront != 1) return refuse("wavefront", std::to_string(d.wavefront), "1");
        return {};
    }
    void candidates(const Scenario& scenario,
                    const std::function<void(const Decisions&)>& visit) const override {
        Grid grid(scenario, name(), 1, 1);
        const Residency here{scenario.plan.model.layer_count(), 0, 0};
        grid.set("kv", &Decisions::kv_residency, here)
            .set("kv_gradients", &Decisions::kv_gradient_residency, here);
        grid.set("attention_outputs", &Decisions::attention_outputs, AttentionOutputs::recompute);
        grid.option("chunk", &Decisions::chunk,
                    std::vector<Tokens>{Tokens(4096), Tokens(8192), Tokens(16384)});
        grid.option("activations", &Decisions::activations,
                    std::vector<Activations>{Activations::checkpoint_device, Activations::checkpoint_host});
        home_options(grid, scenario, false);
        travel_options(grid, scenario, false);
        grid.visit(visit);
    }
    Program lower(const Plan& plan, const SelectionSet&, const LowerOptions& options) const override {
        return layer_step(plan, options);
    }
};

}  // namespace

const Strategy& layer_major() {
    static const LayerMajor strategy;
    return strategy;
}

}  // namespace headroom
