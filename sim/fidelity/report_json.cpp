// The table of a suite as JSON: every finding of every plan.
#include <cmath>
#include <nlohmann/json.hpp>

#include "fidelity/report.h"

namespace headroom::fidelity {
namespace {

using Json = nlohmann::ordered_json;

Json number(double v) {
    return std::isfinite(v) ? Json(v) : Json(nullptr);
}
Json tristate(const std::optional<bool>& v) {
    return v ? Json(*v) : Json(nullptr);
}

Json entry_json(const Entry& e, const Bounds& bounds) {
    Json j{{"name", e.plan.name}, {"half", name_of(e.plan.half)}, {"measured", e.judgeable()}};
    if (e.prediction) {
        j["predicted_step_ns"] = e.prediction->figures.step_ns;
        j["predicted_to_fit"] = e.prediction->fits();
    }
    if (e.run) {
        j["set"] = e.run->set;
        j["machine"] = e.run->machine;
        j["date"] = e.run->date;
        j["commit"] = e.run->commit;
        j["failure"] = e.run->failure;
    }
    if (!e.missing.empty()) j["missing"] = e.missing;
    if (!e.judgeable()) return j;
    const RunSummary& run = *e.run;
    j["measured_step_ns"] = run.figures.step_ns;
    j["step_error"] = number(e.step_error());
    j["recorded_selection_step_ns"] = e.recorded ? Json(e.recorded->figures.step_ns) : Json(nullptr);
    j["tokens_per_second"] = number(run.tokens_per_second);
    j["mfu"] = number(run.mfu);
    j["hidden_share"] = {{"predicted", e.prediction->figures.hidden_share},
                         {"measured", run.figures.hidden_share}};
    j["losses"] = Json::array();
    for (const double l : run.losses) j["losses"].push_back(number(l));
    j["findings"] = Json::array();
    for (const Finding& f : judge(*e.prediction, run, bounds)) {
        Json row{{"group", f.group},         {"what", f.what},         {"unit", f.unit},
                 {"predicted", f.predicted}, {"measured", f.measured}, {"error", number(f.error())}};
        row["bound"] = f.judged ? Json(f.bound) : Json(nullptr);
        row["within"] = f.judged ? Json(f.within()) : Json(nullptr);
        j["findings"].push_back(std::move(row));
    }
    return j;
}

Json set_json(const RunSet& s) {
    return {{"id", s.id},
            {"machine", s.machine},
            {"date", s.date},
            {"commit", s.commit},
            {"hardware", s.hardware},
            {"repeated", s.repeated},
            {"repeat_step_ns", s.repeat_step_ns},
            {"repeatability", s.repeatability()},
            {"calibration", s.calibration},
            {"calibration_not_read", s.calibration_not_read}};
}

}  // namespace

Json results_json(const Results& r, const Bounds& bounds) {
    Json j{{"schema_version", 1}, {"suite", r.suite}, {"title", r.title}, {"hardware", r.hardware}};
    j["verdicts"] = Json::array();
    for (const Verdict& v : verdicts(r, bounds)) {
        j["verdicts"].push_back({{"what", v.what},
                                 {"found", v.found},
                                 {"bound", v.bound},
                                 {"where", v.where},
                                 {"within", tristate(v.within)}});
    }
    j["sets"] = Json::array();
    for (const RunSet& s : r.sets) j["sets"].push_back(set_json(s));
    j["plans"] = Json::array();
    for (const Entry& e : r.entries) j["plans"].push_back(entry_json(e, bounds));
    j["ladders"] = Json::array();
    for (const LadderResult& l : r.ladders) {
        Json rungs = Json::array();
        for (size_t i = 0; i < l.rungs.size(); ++i) {
            Json rung = entry_json(l.rungs[i], bounds);
            rung["context_tokens"] = l.contexts[i].count();
            rungs.push_back(std::move(rung));
        }
        j["ladders"].push_back({{"name", l.ladder.name},
                                {"limit_tokens", l.limit.count()},
                                {"right", tristate(l.right(bounds))},
                                {"rungs", std::move(rungs)}});
    }
    j["rankings"] = Json::array();
    for (const RankingResult& k : r.rankings) {
        Json names = Json::array();
        for (const size_t i : k.entries) names.push_back(r.entries[i].plan.name);
        j["rankings"].push_back({{"name", k.ranking.name},
                                 {"predicted_order", std::move(names)},
                                 {"first_over_fastest", k.lost ? number(*k.lost) : Json(nullptr)}});
    }
    return j;
}

}  // namespace headroom::fidelity
