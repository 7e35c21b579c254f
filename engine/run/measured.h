// A measured step as a Timeline: the ops, waits and memory changes of the program at the times that the run
// saw.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/plan.h"
#include "program/program.h"
#include "run/executor.h"
#include "timeline/timeline.h"

namespace headroom::engine {

// `machine`: device and driver; `date`: ISO 8601. Memory is the program's own account of what is live, at the
// measured times. Error: a program that breaks its contract (our mistake).
Result<Timeline> measured_timeline(const Plan& plan, const Program& program, StepResult step,
                                   std::string machine, std::string date);

}  // namespace headroom::engine
