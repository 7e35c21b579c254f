// Results of a suite for people, for programs, and as pictures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "fidelity/judge.h"

namespace headroom::fidelity {

// The whole table, as Markdown.
std::string results_markdown(const Results& results, const Bounds& bounds = {});
nlohmann::ordered_json results_json(const Results& results, const Bounds& bounds = {});
// Pictures, as SVG: predicted against measured step time, and the error of each plan's step by streams.
std::string step_svg(const Results& results);
std::string error_svg(const Results& results, const Bounds& bounds = {});

}  // namespace headroom::fidelity
