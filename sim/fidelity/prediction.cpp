#include "fidelity/prediction.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "search/evaluate.h"
#include "strategy/strategy.h"

namespace headroom::fidelity {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTierKeys[] = {"device", "host", "disk"};

Json by_tier(const std::array<int64_t, kTiers>& bytes) {
    Json j = Json::object();
    for (size_t i = 0; i < kTiers; ++i) j[kTierKeys[i]] = bytes[i];
    return j;
}

Result<void> read_by_tier(ConfigTable& root, const char* key, std::array<int64_t, kTiers>& out) {
    HEADROOM_TRY(ConfigTable table, root.need<ConfigTable>(key));
    for (size_t i = 0; i < kTiers; ++i) {
        HEADROOM_TRY(out[i], table.need<int64_t>(kTierKeys[i]));
    }
    return table.finish();
}

struct Text {
    const char* key;
    std::string Prediction::*member;
};
constexpr Text kTexts[] = {{"name", &Prediction::name},
                           {"half", &Prediction::half},
                           {"plan_hash", &Prediction::plan_hash},
                           {"hardware", &Prediction::hardware},
                           {"rates", &Prediction::rates},
                           {"date", &Prediction::date},
                           {"commit", &Prediction::commit},
                           {"question", &Prediction::question},
                           {"selection_source", &Prediction::selection_source}};

}  // namespace

bool Prediction::fits() const {
    for (size_t i = 0; i < kTiers; ++i)
        if (need_bytes[i] > budget_bytes[i]) return false;
    return true;
}

Result<Prediction> predict_plan(const Plan& plan, const std::optional<SelectionModel>& selection,
                                const std::string& name, const std::string& half) {
    Prediction p;
    HEADROOM_TRY(Program program, lower(plan));
    const std::array<TierNeed, kTiers> needs = needs_of(plan, program);
    for (size_t i = 0; i < kTiers; ++i) {
        p.need_bytes[i] = needs[i].need_bytes;
        p.budget_bytes[i] = needs[i].budget_bytes;
    }
    Plan seen = plan;
    if (selection && plan.decisions.attention.sparse) {
        seen.selection = *selection;
        HEADROOM_TRY(program, lower(plan, select_pages(seen)));
    }
    SimulateOptions options;
    options.memory_curve = true;
    HEADROOM_TRY(Simulation simulation, simulate(program, plan.hardware, options));
    const Timeline t = timeline_of(seen, program, std::move(simulation));
    p.name = name;
    p.half = half;
    p.plan_hash = plan_hash(plan);
    p.hardware = plan.hardware.name;
    p.rates = t.rates;
    p.selection_source = t.selection_source;
    p.figures = figures_of(t, 0);
    return p;
}

std::string write_prediction(const Prediction& p) {
    Json j{{"schema_version", 1}};
    for (const Text& t : kTexts) j[t.key] = p.*t.member;
    j["fits"] = p.fits();
    j["need_bytes"] = by_tier(p.need_bytes);
    j["budget_bytes"] = by_tier(p.budget_bytes);
    j["figures"] = figures_json(p.figures);
    return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Prediction> parse_prediction(std::string_view json, const std::string& where) {
    HEADROOM_TRY(ConfigTable root, parse_json(json, where));
    HEADROOM_TRY(const int64_t version, root.need<int64_t>("schema_version"));
    if (version != 1) return fail(root.place("schema_version"), std::to_string(version), "1");
    Prediction p;
    for (const Text& t : kTexts) {
        HEADROOM_TRY(p.*t.member, root.need<std::string>(t.key));
    }
    (void)root.find("fits");  // follows from need and budget
    HEADROOM_CHECK(read_by_tier(root, "need_bytes", p.need_bytes));
    HEADROOM_CHECK(read_by_tier(root, "budget_bytes", p.budget_bytes));
    HEADROOM_TRY(const ConfigTable figures, root.need<ConfigTable>("figures"));
    HEADROOM_TRY(p.figures, read_figures(figures));
    HEADROOM_CHECK(root.finish());
    return p;
}

}  // namespace headroom::fidelity
