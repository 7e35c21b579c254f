// On every shipped scenario, as it stands and with the strategy left open: no plan of one strategy's defaults
// and no plan of the OOMB authors' policy that fits is faster, simulated whole, than the plan that the search
// finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "search/evaluate.h"
#include "search/search.h"
#include "sim/search/fixture.h"
#include "strategy/strategy.h"

namespace headroom {
namespace {

using namespace test;
namespace fs = std::filesystem;

// Beyond this many tokens the search simulates few candidates whole, for the sake of the test's time.
constexpr int64_t kLongContext = 500'000;

struct Case {
    std::string file;  // stem
    bool any_strategy = false;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.file << (c.any_strategy ? ", any strategy" : "");
}

Result<Scenario> read(const Case& c) {
    Result<Scenario> s = read_scenario(source() / "scenarios" / (c.file + ".toml"), source());
    if (s && c.any_strategy) {
        s->fixed.erase("strategy");
        // What only the fixed strategy can run is no decision of the others.
        if (!s->fixed.contains("tensor_ranks")) s->plan.decisions.tensor_ranks = 1;
    }
    return s;
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const auto& entry : fs::directory_iterator(source() / "scenarios")) {
        if (entry.path().extension() != ".toml") continue;
        const Case as_it_stands{entry.path().stem().string()};
        all.push_back(as_it_stands);
        const Result<Scenario> s = read(as_it_stands);
        if (s && s->fixed.contains("strategy")) all.push_back({as_it_stands.file, true});
    }
    std::sort(all.begin(), all.end(), [](const Case& a, const Case& b) {
        return std::tie(a.file, a.any_strategy) < std::tie(b.file, b.any_strategy);
    });
    return all;
}

struct Rival {
    std::string name;
    Plan plan;
};

// The scenario's decisions with `change` made to those that the search may choose.
class Rivals {
public:
    explicit Rivals(const Scenario& s) : scenario_(s) {
        for (const Strategy* strategy : strategies()) {
            const std::string name(strategy->name());
            if (s.fixed.contains("strategy") && s.plan.decisions.strategy != name) continue;
            add(*strategy, "defaults of " + name, [](Decisions&) {});
            add(*strategy, name + " with all pages on the device", [&](Decisions& d) {
                const Residency here{s.plan.model.layer_count(), 0, 0};
                set("kv", d.kv_residency, here);
                set("kv_gradients", d.kv_gradient_residency, here);
            });
            add(*strategy, name + " with states on the host",
                [&](Decisions& d) { set("states_home", d.states_home, Home::host); });
            add(*strategy, name + " with the authors' policy", [&](Decisions& d) { authors_policy(d, 2); });
            add(*strategy, name + " with the authors' policy, nothing offloaded",
                [&](Decisions& d) { authors_policy(d, s.plan.model.layer_count()); });
        }
    }
    const std::vector<Rival>& all() const { return rivals_; }

private:
    template <class T>
    void set(const std::string& key, T& member, T value) const {
        if (!scenario_.fixed.contains(key)) member = value;
    }

    // docs/strategies.md. Its fp32 page gradients are part of the trained result, which stays.
    void authors_policy(Decisions& d, int64_t device_layers) const {
        set("kv", d.kv_residency, Residency{device_layers, 0, 0});
        set("kv_gradients", d.kv_gradient_residency, Residency{device_layers, 0, 0});
        set("gradient_pages", d.gradient_pages, GradientPages::all_at_once);
        set("activations", d.activations, Activations::checkpoint_device);
        set("attention_outputs", d.attention_outputs, AttentionOutputs::recompute);
        set("page_copy", d.page_copy, PageCopy::loop);
        set("loss_tile", d.loss_tile, Tokens(0));
        set("logits_fp32", d.logits_fp32, int64_t{1});
        for (const auto& [key, member] : {std::pair{"fill_head", &Decisions::fill_head},
                                          {"write_back_clean", &Decisions::write_back_clean},
                                          {"load_gradients_forward", &Decisions::load_gradients_forward}}) {
            set(key, d.*member, true);
        }
    }

    // What a strategy needs whatever else is decided.
    void conform(const std::string& strategy, Decisions& d) const {
        d.strategy = strategy;
        set("tensor_ranks", d.tensor_ranks, strategy == "tensor-parallel" ? scenario_.gpus : 1);
        set("ring_ranks", d.ring_ranks, strategy == "ring" ? scenario_.gpus : 1);
        const Plan& plan = scenario_.plan;
        if (strategy == "whole-sequence" || strategy == "ring") {
            set("chunk", d.chunk, Tokens(round_up(plan.context.count(), d.page.count())));
            set("activations", d.activations, Activations::checkpoint_device);
        }
        if (strategy == "layer-major") {
            const Residency here{plan.model.layer_count(), 0, 0};
            set("kv", d.kv_residency, here);
            set("kv_gradients", d.kv_gradient_residency, here);
            set("activations", d.activations, Activations::checkpoint_device);
        }
    }

    template <class Change>
    void add(const Strategy& strategy, std::string name, const Change& change) {
        Rival r{std::move(name), scenario_.plan};
        Decisions& d = r.plan.decisions;
        change(d);
        conform(std::string(strategy.name()), d);
        r.plan.gpus = d.tensor_ranks * d.ring_ranks;
        const auto same = [&](const Rival& other) { return other.plan == r.plan; };
        if (!check_plan(r.plan, "") || !strategy.check(r.plan)) return;
        if (std::none_of(rivals_.begin(), rivals_.end(), same)) rivals_.push_back(std::move(r));
    }

    const Scenario& scenario_;
    std::vector<Rival> rivals_;
};

class ShippedScenarios : public ::testing::TestWithParam<Case> {};

TEST_P(ShippedScenarios, NoPlainPlanBeatsTheSearch) {
    const Result<Scenario> s = read(GetParam());
    ASSERT_TRUE(s) << s.error().text();
    SearchOptions options;
    options.statistics = false;
    if (s->plan.context.count() > kLongContext) options.op_budget = 0;
    Searcher searcher(*s);
    const Result<Found> found = searcher.best(s->plan.budget, options);
    ASSERT_TRUE(found) << found.error().text();

    const Rivals rivals(*s);
    EXPECT_FALSE(rivals.all().empty());
    Estimator selections;  // keeps what rivals share
    for (const Rival& rival : rivals.all()) {
        SCOPED_TRACE(rival.name);
        const Result<Evaluation> e = evaluate(rival.plan, selections.selections(rival.plan), false);
        ASSERT_TRUE(e) << e.error().text();
        if (!e->fits()) continue;
        EXPECT_TRUE(found->evaluation.fits());
        EXPECT_LE(found->evaluation.step_ns, e->step_ns);
    }
}

INSTANTIATE_TEST_SUITE_P(Search, ShippedScenarios, ::testing::ValuesIn(cases()), [](const auto& of) {
    std::string name = of.param.file + (of.param.any_strategy ? "_any_strategy" : "");
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
    return name;
});

}  // namespace
}  // namespace headroom
