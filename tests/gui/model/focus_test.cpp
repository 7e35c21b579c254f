#include "gui/model/focus.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

namespace headroom::gui::test {
namespace {

TEST(Focus, BeginsWithTheWholeStep) {
    Focus f;
    f.reset(1000);
    EXPECT_EQ(f.range(), (TimeRange{0, 1000}));
    EXPECT_FALSE(f.can_go_back());
}

TEST(Focus, ZoomKeepsTheInstantUnderThePointer) {
    Focus f;
    f.reset(1'000'000);
    f.zoom(0.5, 250'000);
    EXPECT_EQ(f.range(), (TimeRange{125'000, 625'000}));
    f.zoom(0.5, 250'000);
    EXPECT_EQ(f.range(), (TimeRange{187'500, 437'500}));
    f.zoom(4, 250'000);
    EXPECT_EQ(f.range(), f.whole());
}

TEST(Focus, StaysWithinTheStepAndTheShortestRange) {
    Focus f;
    f.reset(1'000'000);
    f.set_range({-50, 500});
    EXPECT_EQ(f.range(), (TimeRange{0, 550}));
    f.set_range({999'990, 999'995});
    EXPECT_EQ(f.range(), (TimeRange{1'000'000 - Focus::kShortest_ns, 1'000'000}));
    f.pan(1'000'000'000);
    EXPECT_EQ(f.range().end_ns, 1'000'000);
    f.set_range({700, 300});
    EXPECT_EQ(f.range(), (TimeRange{300, 700}));
}

TEST(Focus, AStepShorterThanTheShortestRangeIsShownWhole) {
    Focus f;
    f.reset(10);
    f.zoom(0.1, 5);
    EXPECT_EQ(f.range(), (TimeRange{0, 10}));
}

TEST(Focus, BackAndForthByGesture) {
    Focus f;
    f.reset(1'000'000);
    f.set_range({0, 500'000});
    f.set_range({0, 400'000});  // at once: the same gesture
    EXPECT_TRUE(f.can_go_back());
    QTest::qWait(Focus::kTogether_ms + 50);
    f.set_range({0, 100'000});
    f.go_back();
    EXPECT_EQ(f.range(), (TimeRange{0, 400'000}));
    f.go_back();
    EXPECT_EQ(f.range(), f.whole());
    EXPECT_FALSE(f.can_go_back());
    f.go_forward();
    f.go_forward();
    EXPECT_EQ(f.range(), (TimeRange{0, 100'000}));
    EXPECT_FALSE(f.can_go_forward());
}

TEST(Focus, RevealPansAndZoomsOnlyWhereItMust) {
    Focus f;
    f.reset(1'000'000);
    f.set_range({0, 1000});
    f.reveal(100, 200);
    EXPECT_EQ(f.range(), (TimeRange{0, 1000}));
    f.reveal(500'000, 500'100);
    EXPECT_EQ(f.range(), (TimeRange{499'550, 500'550}));
    f.reveal(100'000, 110'000);
    EXPECT_EQ(f.range().length_ns(), 20'000);
}

TEST(Focus, TellsOnlyOfChanges) {
    Focus f;
    f.reset(1000);
    QSignalSpy selected(&f, &Focus::selected_changed), cursor(&f, &Focus::cursor_changed),
        marked(&f, &Focus::marked_changed);
    f.select(3);
    f.select(3);
    f.set_cursor(10);
    f.set_cursor(10);
    f.mark(TimeRange{900, 100});
    f.mark(TimeRange{100, 900});
    EXPECT_EQ(selected.count(), 1);
    EXPECT_EQ(cursor.count(), 1);
    EXPECT_EQ(marked.count(), 1);
    EXPECT_EQ(f.marked(), (TimeRange{100, 900}));
    f.mark(TimeRange{2000, 3000});  // outside
    EXPECT_EQ(f.marked(), std::nullopt);
}

}  // namespace
}  // namespace headroom::gui::test
