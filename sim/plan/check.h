// The parts of check_plan(). Each takes a plan of any numbers and returns the first relation that does not
// hold.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/plan.h"

namespace headroom {

// Most (chunk, layer, sequence) steps that one plan may have: what memory for ops and page maps allows.
inline constexpr int64_t kMaxChunkLayers = int64_t{1} << 25;
// Longest chunk of a context that has more than one.
inline constexpr int64_t kMaxChunk = int64_t{1} << 20;
// Most page picks (query blocks x budget) in one layer of one sequence.
inline constexpr int64_t kMaxPicks = int64_t{1} << 30;

// "scenarios/a.toml, key 'plan.chunk'".
std::string key_place(const std::string& where, const std::string& key);

// `value` within [low, high], with `unit` for the message.
Result<void> check_range(const std::string& where, const std::string& key, int64_t value, int64_t low,
                         int64_t high, const std::string& unit);

Result<void> check_recipe(const Plan& plan, const std::string& where);
// Needs a context within its bounds.
Result<void> check_decisions(const Plan& plan, const std::string& where);
Result<void> check_attention(const Plan& plan, const std::string& where);

// Bytes of K and V of one page of one layer on one GPU.
Bytes page_bytes(const Plan& plan);

}  // namespace headroom
