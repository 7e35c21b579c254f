// Waits for what another thread or process does, while Qt's events go on.
#pragma once

#include <gtest/gtest.h>

#include <QTest>
#include <functional>

namespace headroom::gui::test {

inline testing::AssertionResult becomes(const std::function<bool()>& holds, int patience_ms = 60'000) {
    return QTest::qWaitFor(holds, patience_ms) ? testing::AssertionSuccess()
                                               : testing::AssertionFailure() << "not in time";
}

}  // namespace headroom::gui::test
