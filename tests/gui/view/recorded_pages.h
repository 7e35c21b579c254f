// What a run of a small sparse plan could have recorded.
#pragma once

#include "plan/plan.h"
#include "plan/selection.h"
#include "search/evaluate.h"
#include "sim/program/small_plan.h"

namespace headroom::gui::test {

// What the model draws with another seed, as a run would have recorded it.
inline RecordedSelection recorded_for(const Plan& plan) {
    const Decisions& d = plan.decisions;
    SelectionModel other;
    other.seed = 99;
    Selections drawn = draw_selections(other, d.attention, plan.chunks(), d.chunk.count(), d.page.count());
    RecordedSelection r;
    r.source = "a test";
    r.page = d.page.count(), r.chunk = d.chunk.count();
    r.budget = d.attention.budget, r.block = d.attention.block;
    r.layers = 1, r.chunks = plan.chunks();
    r.begin = std::move(drawn.begin);
    r.pages = std::move(drawn.pages);
    return r;
}

// Ten chunks whose pages are on the host.
inline Plan small_sparse_plan() {
    Plan plan = headroom::test::tiny_plan(10, 32, 24);
    plan.decisions.attention.sparse = true;
    plan.decisions.kv_residency = plan.decisions.kv_gradient_residency = Residency{};
    return plan;
}

// A run that did just what the plan says with those pages.
inline Timeline run_with(const Plan& plan, const RecordedSelection& pages) {
    Plan with = plan;
    with.selection.recorded = std::make_shared<const RecordedSelection>(pages);
    Timeline run = predict(with).value();
    run.plan = write_plan(plan);
    run.plan_hash = plan_hash(plan);
    run.source = "measured";
    return run;
}

}  // namespace headroom::gui::test
