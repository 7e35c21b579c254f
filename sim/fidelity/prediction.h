// What is predicted of one plan, written down before the plan is run.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "fidelity/figures.h"
#include "plan/plan.h"

namespace headroom::fidelity {

struct Prediction {
    std::string name, half;  // of the suite's plan
    std::string plan_hash, hardware, rates;
    std::string date, commit;      // when and by which program
    std::string question;          // what was asked, as one text
    std::string selection_source;  // empty where attention is dense
    std::array<int64_t, kTiers>
        need_bytes{};  // of each tier: arena; on the device with context and libraries
    std::array<int64_t, kTiers> budget_bytes{};
    Figures figures;  // curves are left out
    bool fits() const;
    bool operator==(const Prediction&) const = default;
};

// Reads nothing but the plan. `selection`: what sparse attention is predicted to select, where it is another
// than the plan was sized with; needs are the plan's own. Cost: as predict() (search/evaluate.h), twice with
// a selection. Errors: as there.
Result<Prediction> predict_plan(const Plan& plan, const std::optional<SelectionModel>& selection,
                                const std::string& name, const std::string& half);

std::string write_prediction(const Prediction& prediction);
Result<Prediction> parse_prediction(std::string_view json, const std::string& where);

}  // namespace headroom::fidelity
