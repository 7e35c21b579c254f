#include "gui/view/time_canvas.h"

#include <gtest/gtest.h>

#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include "gui/view/drawn.h"

namespace headroom::gui::test {
namespace {

// 1000 pixels of body for a step of a millisecond: 1000 ns a pixel.
class TimeCanvasTest : public testing::Test {
protected:
    TimeCanvasTest() : canvas(focus) {
        canvas.set_margins(100, 0);
        canvas.resize(1100, 300);
        canvas.show();
        focus.reset(1'000'000);
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&canvas));
    }
    void wheel(QPoint at, int notches, Qt::KeyboardModifiers held = Qt::NoModifier) {
        QWheelEvent event(at, canvas.mapToGlobal(at), {}, {0, notches * 120}, Qt::NoButton, held,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&canvas, &event);
    }
    void drag(QPoint from, QPoint to, Qt::KeyboardModifiers held = Qt::NoModifier) {
        QTest::mousePress(&canvas, Qt::LeftButton, held, from);
        QMouseEvent move(QEvent::MouseMove, to, canvas.mapToGlobal(to), Qt::NoButton, Qt::LeftButton, held);
        QCoreApplication::sendEvent(&canvas, &move);
        QTest::mouseRelease(&canvas, Qt::LeftButton, held, to);
    }
    void key(Qt::Key k) { QTest::keyClick(&canvas, k); }
    void key(char k) { QTest::keyClick(&canvas, k); }

    Focus focus;
    TimeCanvas canvas;
};

TEST_F(TimeCanvasTest, TheAxisLiesOverTheBody) {
    EXPECT_EQ(canvas.body(), QRect(100, TimeCanvas::kAxis_px, 1000, 300 - TimeCanvas::kAxis_px));
    EXPECT_EQ(canvas.axis().x_of(0), 100);
    EXPECT_EQ(canvas.axis().x_of(1'000'000), 1100);
}

TEST_F(TimeCanvasTest, TheWheelZoomsAtThePointer) {
    wheel({350, 100}, 1);
    EXPECT_EQ(focus.range(), (TimeRange{50'000, 850'000}));
    EXPECT_EQ(canvas.axis().ns_at(350), 250'000);
    wheel({350, 100}, -1);
    EXPECT_EQ(focus.range(), focus.whole());
}

TEST_F(TimeCanvasTest, ShiftAndTheWheelMoveInTime) {
    focus.set_range({0, 400'000});
    wheel({350, 100}, -1, Qt::ShiftModifier);
    EXPECT_EQ(focus.range(), (TimeRange{50'000, 450'000}));
}

TEST_F(TimeCanvasTest, ADragPans) {
    focus.set_range({200'000, 400'000});
    QSignalSpy clicked(&canvas, &TimeCanvas::clicked);
    drag({600, 100}, {500, 100});
    EXPECT_EQ(focus.range(), (TimeRange{220'000, 420'000}));
    EXPECT_EQ(clicked.count(), 0);
}

TEST_F(TimeCanvasTest, ADragOnTheAxisOrWithShiftMarks) {
    drag({300, 10}, {600, 10});
    EXPECT_EQ(focus.marked(), (TimeRange{200'000, 500'000}));
    drag({400, 100}, {200, 100}, Qt::ShiftModifier);
    EXPECT_EQ(focus.marked(), (TimeRange{100'000, 300'000}));
    EXPECT_EQ(focus.range(), focus.whole());
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, {500, 10});
    EXPECT_EQ(focus.marked(), std::nullopt);
}

TEST_F(TimeCanvasTest, MMarksWhatIsInView) {
    focus.set_range({400'000, 480'000});
    key('m');
    EXPECT_EQ(focus.marked(), (TimeRange{400'000, 480'000}));
}

TEST_F(TimeCanvasTest, AClickIsTold) {
    QSignalSpy clicked(&canvas, &TimeCanvas::clicked);
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, {500, 100});
    ASSERT_EQ(clicked.count(), 1);
    EXPECT_EQ(clicked[0][0].toPoint(), QPoint(500, 100));
}

TEST_F(TimeCanvasTest, KeysZoomAtTheCursorAndPan) {
    focus.set_cursor(250'000);
    key('w');
    EXPECT_EQ(focus.range(), (TimeRange{50'000, 850'000}));
    key('s');
    EXPECT_EQ(focus.range(), focus.whole());
    key(Qt::Key_Plus);
    key(Qt::Key_Minus);
    EXPECT_EQ(focus.range(), focus.whole());
    focus.set_range({400'000, 480'000});
    key('d');
    EXPECT_EQ(focus.range(), (TimeRange{410'000, 490'000}));
    key('a');
    EXPECT_EQ(focus.range(), (TimeRange{400'000, 480'000}));
    key(Qt::Key_PageDown);
    EXPECT_EQ(focus.range(), (TimeRange{480'000, 560'000}));
    key(Qt::Key_PageUp);
    key(Qt::Key_End);
    EXPECT_EQ(focus.range(), (TimeRange{920'000, 1'000'000}));
    key(Qt::Key_Home);
    EXPECT_EQ(focus.range(), (TimeRange{0, 80'000}));
}

TEST_F(TimeCanvasTest, FFitsTheMarkThenTheSelectionThenAll) {
    canvas.set_selection_range([] { return TimeRange{500'000, 600'000}; });
    focus.mark(TimeRange{100'000, 200'000});
    key('f');
    EXPECT_EQ(focus.range(), (TimeRange{100'000, 200'000}));
    key('f');
    EXPECT_EQ(focus.range(), focus.whole());
    key(Qt::Key_Escape);
    EXPECT_EQ(focus.marked(), std::nullopt);
    key('f');
    EXPECT_EQ(focus.range(), (TimeRange{490'000, 610'000}));
    focus.select(3);
    key(Qt::Key_Escape);
    EXPECT_EQ(focus.selected(), kNone);
}

TEST_F(TimeCanvasTest, TheArrowsAreTold) {
    QSignalSpy stepped(&canvas, &TimeCanvas::stepped), lanes(&canvas, &TimeCanvas::lane_stepped);
    key(Qt::Key_Left);
    key(Qt::Key_Right);
    key(Qt::Key_Down);
    ASSERT_EQ(stepped.count(), 2);
    EXPECT_EQ(stepped[0][0].toInt(), -1);
    EXPECT_EQ(stepped[1][0].toInt(), 1);
    ASSERT_EQ(lanes.count(), 1);
    EXPECT_EQ(lanes[0][0].toInt(), 1);
}

TEST_F(TimeCanvasTest, ThePointerSetsTheCursor) {
    QTest::mouseMove(&canvas, {500, 50});
    QTest::mouseMove(&canvas, {350, 100});
    EXPECT_EQ(focus.cursor_ns(), 250'000);
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(&canvas, &leave);
    EXPECT_EQ(focus.cursor_ns(), std::nullopt);
}

TEST_F(TimeCanvasTest, PaintsTheBodyTheMarkAndTheCursor) {
    QRect painted;
    canvas.set_body([&](QPainter& painter, const TimeAxis& axis, const QRect& body) {
        painted = body;
        painter.fillRect(QRectF(axis.x_of(0), 100, axis.x_of(100'000) - axis.x_of(0), 50), Qt::red);
    });
    focus.set_cursor(50'000);
    focus.mark(TimeRange{600'000, 700'000});
    const QImage image = canvas.grab().toImage();
    EXPECT_EQ(painted, canvas.body());
    EXPECT_EQ(image.pixelColor(120, 120), QColor(Qt::red));
    EXPECT_NE(image.pixelColor(210, 120), QColor(Qt::red));
    EXPECT_EQ(image.pixelColor(150, 120), canvas.colours().cursor);
    EXPECT_NE(image.pixelColor(750, 120), image.pixelColor(850, 120));
}

TEST_F(TimeCanvasTest, WithoutAStepItIsStill) {
    focus.reset(0);
    wheel({350, 100}, 1);
    drag({300, 10}, {600, 10});
    for (const char k : {'w', 's', 'a', 'd', 'f', '+', '-'}) key(k);
    EXPECT_TRUE(focus.range().empty());
    EXPECT_EQ(focus.marked(), std::nullopt);
    canvas.grab();
}

TEST(Drawn, ShowsWhatArrivesAndEndsWithTheNewest) {
    int arrivals = 0;
    Drawn<int> drawn([&] { ++arrivals; });
    EXPECT_EQ(drawn.get(), nullptr);
    for (int i = 1; i <= 50; ++i) drawn.want([i] { return i; });
    ASSERT_TRUE(QTest::qWaitFor([&] { return !drawn.busy(); }));
    ASSERT_NE(drawn.get(), nullptr);
    EXPECT_EQ(*drawn.get(), 50);
    EXPECT_EQ(arrivals, 2);  // the first and the newest
    drawn.make_now([] { return 99; });
    EXPECT_EQ(*drawn.get(), 99);
    drawn.clear();
    EXPECT_EQ(drawn.get(), nullptr);
}

}  // namespace
}  // namespace headroom::gui::test
