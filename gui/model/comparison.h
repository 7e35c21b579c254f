// Predicted and measured laid side by side, and where they differ most.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "gui/model/step.h"
#include "timeline/compare.h"

namespace headroom::gui {

struct StepComparison {
    StepPtr predicted, measured;  // of the same ops
    Comparison figures;
    // The op with the largest difference of duration, the first of equals; kNone: there is no op.
    std::array<OpId, kOpKinds> worst_of_kind{};
    std::array<OpId, kStreams> worst_of_stream{};
    OpId worst = kNone;

    // Predicted less measured.
    int64_t difference_ns(OpId op) const;
};
using ComparisonPtr = std::shared_ptr<const StepComparison>;

// Error: the two cannot be laid side by side. Cost: as compare(). For worker threads.
Result<ComparisonPtr> compare_steps(StepPtr predicted, StepPtr measured);

// The step of the plan of `measured`, a run whose selection was recorded, with the pages that it selected:
// what it differs by from the run is an error of cost alone, not of traffic. It reads the run's selection, so
// it is no prediction of the run. As predicted_step().
Result<StepPtr> step_with_selection(const Step& measured, const Progress& progress);

// Where in the step a row of figures is looked at.
struct Place {
    OpId op = kNone;
    std::optional<int64_t> instant_ns;  // of a peak, in the measured step
    bool empty() const { return op == kNone && !instant_ns; }
};
// A kind of op, a stream, the step: the op that differs most. A tier: its peak. A category: nowhere.
Place place_of(const StepComparison& comparison, const Difference& row);
// The kind with the largest judged error; nullptr: no kind is judged.
const Difference* worst_kind(const StepComparison& comparison);

// "+12.3 %"; "new" where nothing was measured.
QString error_text(double error);
// "attention past (layer 3): predicted 1.20 ms, measured 1.31 ms (-8.4 %); starts 2.00 ms earlier than
// measured".
QString op_difference_text(const StepComparison& comparison, OpId op);

}  // namespace headroom::gui
