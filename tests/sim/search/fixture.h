// Scenarios for the tests of the search: shipped models on the H200, and a tiny model whose whole space of
// plans can be simulated.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace headroom::test {

inline std::filesystem::path source() {
    return HEADROOM_SOURCE_DIR;
}

// `text`: a scenario file's; `set`: as --set writes over it.
inline Scenario scenario_of(const std::string& text, const std::vector<std::string>& set = {}) {
    const Result<Scenario> s = parse_scenario(text, "test.toml", source(), source(), set);
    EXPECT_TRUE(s) << (s ? "" : s.error().text());
    return s.value_or(Scenario{});
}

// `plan`: the lines of its [plan] table.
inline std::string on_h200(const std::string& model, const std::string& context, const std::string& plan) {
    return "model = \"" + model + "\"\nhardware = \"h200-sxm-pcie5\"\ncontext = \"" + context +
           "\"\n[plan]\n" + plan;
}

// 4 layers of 256, on a GPU with a slow link, so that what fits and what is fastest differ from plan to plan.
inline Scenario tiny(const std::string& plan, int64_t context_tokens = 4096) {
    Scenario s = scenario_of(on_h200("Qwen2.5-0.5B", "4Ki", plan));
    Model& m = s.plan.model;
    m.name = "tiny";
    m.hidden = 256, m.vocabulary = 2000, m.heads = 4, m.kv_heads = 2, m.head_dim = 64, m.intermediate = 768;
    m.layers.resize(4);
    Decisions& d = s.plan.decisions;
    for (Residency* r : {&d.kv_residency, &d.kv_gradient_residency}) {
        r->device_layers = std::min<int64_t>(r->device_layers, 4);
    }
    s.plan.hardware.library_memory = Bytes(64 * kMiB);
    s.plan.context = Tokens(context_tokens);
    return s;
}

}  // namespace headroom::test
