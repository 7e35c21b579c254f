// A view with a small step, offscreen.
#pragma once

#include <gtest/gtest.h>

#include <QTest>

#include "gui/model/document.h"
#include "gui/model/focus.h"
#include "search/evaluate.h"
#include "sim/program/small_plan.h"

namespace headroom::gui::test {

inline testing::AssertionResult becomes(const std::function<bool()>& holds) {
    return QTest::qWaitFor(holds, 60'000) ? testing::AssertionSuccess()
                                          : testing::AssertionFailure() << "not within a minute";
}

inline StepPtr step_of(const Plan& plan) {
    Result<Timeline> timeline = predict(plan);
    EXPECT_TRUE(timeline) << (timeline ? "" : timeline.error().text());
    StepPtr step = timeline ? make_step("small", std::move(*timeline)) : nullptr;
    EXPECT_TRUE(step && step->plan) << (step ? step->plan_error : "");
    return step;
}

// As the window does it.
struct OpenedStep {
    Document document;
    Focus focus;
    OpenedStep() {
        QObject::connect(&document, &Document::steps_changed, &focus, [this] {
            const StepPtr step = document.step();
            focus.reset(step ? step->duration_ns() : 0);
        });
    }
};

}  // namespace headroom::gui::test
