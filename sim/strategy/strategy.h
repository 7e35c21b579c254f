// A way to run a training step. One file per strategy implements this; strategies.cpp lists them (one line
// each).
//
// Contract of lower():
//  - Op ids are a function of the plan alone; selections only change works, traffic and memory.
//  - Every byte that the step touches is in a buffer, a pool or `standing`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "program/program.h"
#include "program/selected.h"

namespace headroom {

class Strategy {
public:
    virtual ~Strategy() = default;
    virtual std::string_view name() const = 0;
    virtual std::string_view summary() const = 0;  // one line for help
    // Whether this strategy can run `plan`; the Error says which decision stands against it and what is
    // allowed.
    virtual Result<void> check(const Plan& plan) const = 0;
    // Calls `visit` with every combination of decisions worth trying for `scenario`; decisions that the
    // scenario fixes keep their values. Candidates may still fail check() or not fit.
    virtual void candidates(const Scenario& scenario,
                            const std::function<void(const Decisions&)>& visit) const = 0;
    virtual Program lower(const Plan& plan, const SelectionSet& selections,
                          const LowerOptions& options = {}) const = 0;
};

std::span<const Strategy* const> strategies();
// Null where there is none of that name.
const Strategy* find_strategy(std::string_view name);
// The same, with an error at `where` that lists them.
Result<const Strategy*> require_strategy(const std::string& name, const std::string& where);
// Where a scenario fixes its strategy: there is one of that name, and it has candidates for so many GPUs.
Result<void> check_strategy(const Scenario& scenario);
// Whole Program of a checked plan. Error: unknown strategy, check() failed, more ops than `kMaxOps`.
Result<Program> lower(const Plan& plan);
Result<Program> lower(const Plan& plan, const SelectionSet& selections, const LowerOptions& options = {});
inline constexpr int64_t kMaxOps = int64_t{1} << 26;
// Pieces of the past of one chunk and layer: what Op::piece counts.
inline constexpr int64_t kMaxPieces = 0xffff;

}  // namespace headroom
