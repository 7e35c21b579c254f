// What a suite's plans are predicted to do: before they run, and again from what is kept of the runs.
#include <fmt/format.h>
#include <algorithm>

#include <memory>
#include <utility>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/utc.h"
#include "cli/fidelity_runs.h"
#include "fidelity/selection_fit.h"
#include "search/answer.h"

namespace headroom::cli {
namespace {

using fidelity::Entry;
using fidelity::Prediction;

std::string selection_text(const SelectionModel& m) {
    std::string text = fmt::format("block_reuse {}, chunk_reuse {}", m.block_reuse, m.chunk_reuse);
    if (m.popularity != 0) text += fmt::format(", popularity {}", m.popularity);
    if (m.recency != 0) text += fmt::format(", recency {}", m.recency);
    if (m.neighbours != 0) text += fmt::format(", neighbours {}", m.neighbours);
    return text;
}

std::string question_text(const fidelity::Suite& suite, const fidelity::SuitePlan& plan) {
    const fidelity::Question& q = plan.question;
    std::string text = q.model.empty() ? "scenario " + q.scenario : "model " + q.model;
    for (const auto* set : {&suite.set, &q.set})
        for (const std::string& pair : *set) text += " --set " + pair;
    if (const auto& selection = suite.selection_of(plan))
        text += "; predicted with " + selection_text(*selection);
    return text;
}

}  // namespace

Result<Plan> FidelityRuns::plan_of(const fidelity::SuitePlan& p) const {
    HEADROOM_TRY(const Scenario scenario, scenario_of(suite_, p.question, p.name, p.place, data_));
    AnswerOptions o;
    o.gains = o.remedies = false;
    Result<Answer> a = answer(scenario, o);
    if (!a) {
        Error e = with_places(a.error(), scenario);
        e.where = p.place + ": " + e.where;
        return tl::unexpected<Error>(std::move(e));
    }
    return std::move(a->plan);
}

Result<void> FidelityRuns::load(Entry& e) const {
    HEADROOM_TRY(e.prediction, folder_.prediction(e.plan.name + ".prediction.json"));
    HEADROOM_TRY(e.recorded, folder_.prediction(e.plan.name + ".recorded.json"));
    HEADROOM_TRY(e.run, folder_.run(e.plan.name));
    return {};
}

// A prediction of this program, of the same question and hardware, is taken as it stands; so is the one of a
// plan that has been run: it was made before the run.
Result<void> FidelityRuns::predict_entry(Entry& e) {
    HEADROOM_CHECK(check_interrupt("fidelity"));
    const std::string plan_file = e.plan.name + ".plan.json";
    const std::string question = question_text(suite_, e.plan);
    if (options_.resume) {
        HEADROOM_CHECK(load(e));
        if (e.run && options_.only.empty()) return {};
        if (e.prediction && e.prediction->commit == options_.commit && e.prediction->question == question &&
            folder_.has(plan_file)) {
            HEADROOM_TRY(const Plan plan, read_plan(folder_.file(plan_file)));
            HEADROOM_TRY(const Scenario s,
                         scenario_of(suite_, e.plan.question, e.plan.name, e.plan.place, data_));
            if (plan.hardware == s.plan.hardware && plan_hash(plan) == e.prediction->plan_hash) return {};
        }
        e.prediction.reset();
    }
    HEADROOM_TRY(const Plan plan, plan_of(e.plan));
    HEADROOM_TRY(Prediction p, fidelity::predict_plan(plan, suite_.selection_of(e.plan), e.plan.name,
                                                      std::string(fidelity::name_of(e.plan.half))));
    p.date = utc_now();
    p.commit = options_.commit;
    p.question = question;
    HEADROOM_CHECK(write_file(folder_.file(plan_file), write_plan(plan)));
    HEADROOM_CHECK(write_file(folder_.file(e.plan.name + ".prediction.json"), fidelity::write_prediction(p)));
    e.prediction = std::move(p);
    return {};
}

Result<fidelity::LadderResult> FidelityRuns::limit_of(const fidelity::Ladder& ladder) const {
    HEADROOM_TRY(const Scenario s, scenario_of(suite_, ladder.question, ladder.name, ladder.place, data_));
    Result<MaxContext> max = max_context(s);
    if (!max) {
        Error e = with_places(max.error(), s);
        e.where = ladder.place + ": " + e.where;
        return tl::unexpected<Error>(std::move(e));
    }
    fidelity::LadderResult l;
    l.ladder = ladder;
    l.limit = max->context;
    l.page = max->at.plan.decisions.page;
    return l;
}

Result<void> FidelityRuns::predict_ladder(const fidelity::Ladder& ladder) {
    HEADROOM_TRY(fidelity::LadderResult l, limit_of(ladder));
    l.contexts = fidelity::rung_contexts(ladder, l.limit, l.page);
    for (const Tokens context : l.contexts) {
        Entry rung;
        rung.plan = fidelity::rung_plan(ladder, context);
        if (options_.device == "cpu") rung.missing = "a CPU has no device memory of its own";
        HEADROOM_CHECK(predict_entry(rung));
        l.rungs.push_back(std::move(rung));
    }
    results_.ladders.push_back(std::move(l));
    return {};
}

Result<void> FidelityRuns::predict() {
    HEADROOM_CHECK(folder_.make());
    if (!options_.resume && folder_.holds_runs())
        return fail(options_.folder, "holds runs already", "--resume, --replay, or another folder");
    for (Entry& e : results_.entries) {
        if (wanted(e.plan.name, "")) {
            HEADROOM_CHECK(predict_entry(e));
        } else {
            e.missing = "not asked for";
            HEADROOM_CHECK(load(e));
        }
    }
    for (const fidelity::Ladder& l : suite_.ladders)
        if (wanted("", l.name)) HEADROOM_CHECK(predict_ladder(l));
    HEADROOM_TRY(results_.sets, folder_.sets());
    return {};
}

Result<void> FidelityRuns::predict_recorded(Entry& e, const Plan& plan) {
    const std::string packed = e.plan.name + ".selection.json.gz";
    if (!plan.decisions.attention.sparse || !folder_.has(packed)) return {};
    HEADROOM_TRY(RecordedSelection recorded, read_selection(folder_.file(packed)));
    SelectionModel seen;
    seen.source = recorded.source;
    seen.recorded = std::make_shared<const RecordedSelection>(std::move(recorded));
    HEADROOM_TRY(e.recorded, fidelity::predict_plan(plan, seen, e.plan.name,
                                                    std::string(fidelity::name_of(e.plan.half))));
    e.recorded->date = utc_now();
    e.recorded->commit = options_.commit;
    return {};
}

Result<void> FidelityRuns::replay_entry(Entry& e) {
    HEADROOM_CHECK(check_interrupt("fidelity"));
    HEADROOM_CHECK(load(e));
    if (!e.run) return {};
    HEADROOM_TRY(Plan plan, parse_plan(e.run->plan, e.plan.name));
    const std::string named = !options_.hardware.empty()
                                  ? options_.hardware
                                  : fidelity::hardware_of(results_.sets, e.run->set, plan.hardware.name);
    HEADROOM_TRY(plan.hardware, read_hardware(named, data_));
    HEADROOM_TRY(e.prediction, fidelity::predict_plan(plan, suite_.selection_of(e.plan), e.plan.name,
                                                      std::string(fidelity::name_of(e.plan.half))));
    e.recorded.reset();
    return predict_recorded(e, plan);
}

Result<void> FidelityRuns::replay() {
    HEADROOM_TRY(results_.sets, folder_.sets());
    for (Entry& e : results_.entries) HEADROOM_CHECK(replay_entry(e));
    for (const fidelity::Ladder& ladder : suite_.ladders) {
        const std::vector<Tokens> contexts = folder_.rungs(ladder.name);
        if (contexts.empty()) continue;
        HEADROOM_TRY(fidelity::LadderResult l, limit_of(ladder));
        l.contexts = contexts;
        for (const Tokens context : contexts) {
            Entry rung;
            rung.plan = fidelity::rung_plan(ladder, context);
            HEADROOM_CHECK(replay_entry(rung));
            l.rungs.push_back(std::move(rung));
        }
        results_.ladders.push_back(std::move(l));
    }
    const auto has_run = [](const Entry& e) { return e.run.has_value(); };
    const bool any = std::any_of(results_.entries.begin(), results_.entries.end(), has_run) ||
                     std::any_of(results_.ladders.begin(), results_.ladders.end(), [&](const auto& l) {
                         return std::any_of(l.rungs.begin(), l.rungs.end(), has_run);
                     });
    if (!any)
        return fail(options_.folder, "no run of this suite is there",
                    "a folder that `headroom fidelity` ran it into");
    say_selection();
    return write_table();
}

void FidelityRuns::say_selection() const {
    std::vector<fidelity::SelectionCase> cases;
    for (const Entry& e : results_.entries) {
        if (e.plan.half != fidelity::Half::fit || !e.run) continue;
        if (const auto c = fidelity::case_of(*e.run)) cases.push_back(*c);
    }
    if (!cases.empty())
        fmt::print("selection fitted to the {} sparse runs of the fit half: {}\n", cases.size(),
                   selection_text(fidelity::fit_selection(cases)));
}

}  // namespace headroom::cli
