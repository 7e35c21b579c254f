// Answers as people read them, and as programs do (--json).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "search/answer.h"
#include "timeline/compare.h"

namespace headroom::cli {

std::string report_text(const Answer& answer);
nlohmann::ordered_json report_json(const Answer& answer);
// One line for each tier: need, budget, headroom, and who owns the bytes at the worst instant.
std::string tiers_text(const Evaluation& evaluation);
nlohmann::ordered_json tiers_json(const Evaluation& evaluation);
// The verdict in one line.
std::string verdict_text(const Answer& answer);

std::string report_text(const MaxContext& max);
nlohmann::ordered_json report_json(const MaxContext& max);

std::string sweep_text(const std::vector<SweepPoint>& points);
std::string sweep_csv(const std::vector<SweepPoint>& points);
nlohmann::ordered_json sweep_json(const std::vector<SweepPoint>& points);
// Device and host memory and step time against context, a line for each strategy, budgets dashed.
std::string sweep_svg(const std::vector<SweepPoint>& points, const std::string& title);

std::string comparison_text(const Comparison& comparison, double tolerance);
nlohmann::ordered_json comparison_json(const Comparison& comparison, double tolerance);

}  // namespace headroom::cli
