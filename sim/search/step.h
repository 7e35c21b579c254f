// A plan as it stands: its answer and its step, for those who show both.
#pragma once

#include "search/answer.h"
#include "simulate/simulate.h"
#include "timeline/timeline.h"

namespace headroom {

struct AnsweredStep {
    Answer answer;      // as answer(plan) gives it
    Timeline timeline;  // as predict(plan) gives it
};
// Errors as of answer(plan). Cost: one simulation, where those two take one each.
Result<AnsweredStep> answer_step(const Plan& plan, const SimulateOptions& options = {});

}  // namespace headroom
