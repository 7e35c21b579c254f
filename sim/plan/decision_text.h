// Decisions in words, one line each, as reports and the app show them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/decisions.h"

namespace headroom {

// Key (as in scenario files) and value of every decision, in file order.
std::vector<std::pair<std::string, std::string>> decision_texts(const Decisions& decisions);
// What differs: "kv {...} -> device, chunk 4Ki -> 8Ki"; empty: nothing.
std::string changes_between(const Decisions& from, const Decisions& to);

}  // namespace headroom
