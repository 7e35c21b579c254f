#include "gui/view/streams_view.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include "gui/make_timeline.h"
#include "gui/view/op_details.h"

namespace headroom::gui::test {
namespace {

constexpr int kPatience_ms = 20'000;

// A millisecond. Compute stands still from 300 to 500 us for a load that ends then, and from 900 on.
StepPtr a_step() {
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 300'000, {}, 12, 3);                    // 0
    maker.add(Stream::to_device, OpKind::load_pages, 100'000, 500'000, {0}, 12, 3);    // 1
    maker.add(Stream::compute, OpKind::attention_past, 500'000, 700'000, {1}, 12, 3);  // 2
    maker.add(Stream::compute, OpKind::attention_past, 700'000, 900'000, {}, 12, 4);   // 3
    maker.add(Stream::to_host, OpKind::store_pages, 900'000, 1'000'000, {3}, 12, 4);   // 4
    maker.op(1).bytes = 20'000'000;
    maker.op(2).flops = 100'000'000;
    return maker.step();
}

class StreamsViewTest : public testing::Test {
protected:
    StreamsViewTest() : view(document, focus) {
        QObject::connect(&document, &Document::steps_changed,
                         [this] { focus.reset(document.step() ? document.step()->duration_ns() : 0); });
        view.resize(1200, 800);
        view.show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&view));
    }
    void show_step(StepPtr step) {
        document.set_measured(std::move(step));
        settle();
        ASSERT_TRUE(view.has_content());
        view.canvas().setFocus();
    }
    void settle() {
        QTest::qWait(0);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !view.busy(); }, kPatience_ms));
    }
    // The middle of lane `lane` at `ns`.
    QPoint at(size_t lane, int64_t ns) const {
        return {static_cast<int>(view.canvas().axis().x_of(ns)), view.canvas().lane_rect(lane).center().y()};
    }
    void find(const QString& text) {
        search().setFocus();
        search().clear();
        QTest::keyClicks(&search(), text);
        QTest::qWait(200);
        settle();
    }
    QLineEdit& search() { return *view.findChild<QLineEdit*>("search"); }
    OpDetails& details() { return *view.findChild<OpDetails*>(); }
    QToolButton& button(const QString& tip) {
        for (QToolButton* b : view.findChildren<QToolButton*>()) {
            if (b->toolTip().startsWith(tip)) return *b;
        }
        ADD_FAILURE() << tip.toStdString();
        return *view.findChild<QToolButton*>();
    }
    QCheckBox& box(const QString& text) {
        for (QCheckBox* b : view.findChildren<QCheckBox*>()) {
            if (b->text() == text) return *b;
        }
        ADD_FAILURE() << text.toStdString();
        return *view.findChild<QCheckBox*>();
    }
    bool says(const QString& text) {
        const QList<QLabel*> labels = view.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [&](QLabel* l) { return l->text().contains(text); });
    }

    Document document;
    Focus focus;
    StreamsView view;
};

TEST_F(StreamsViewTest, SaysWhatItLacks) {
    EXPECT_FALSE(view.has_content());
    EXPECT_TRUE(view.csv().isEmpty());
    EXPECT_FALSE(view.busy());
    // Words, not an empty ground.
    const QImage image = view.canvas().grab().toImage();
    int inked = 0;
    for (int x = 0; x < image.width(); ++x)
        inked += image.pixelColor(x, image.height() / 2) != view.colours().background;
    EXPECT_GT(inked, 0);
    view.canvas().setFocus();
    for (const Qt::Key key : {Qt::Key_Left, Qt::Key_Down, Qt::Key_F3, Qt::Key_W})
        QTest::keyClick(&view.canvas(), key);
}

TEST_F(StreamsViewTest, DrawsOpsInTheirColours) {
    show_step(a_step());
    const QImage image = view.canvas().grab().toImage();
    const auto pixel = [&](size_t lane, int64_t ns) {
        const QRect row = view.canvas().lane_rect(lane);
        return image.pixelColor(at(lane, ns).x(), row.top() + row.height() / 4).rgb();
    };
    EXPECT_EQ(pixel(0, 150'000), view.colours().of(OpKind::qkv).rgb());
    EXPECT_EQ(pixel(0, 600'000), view.colours().of(OpKind::attention_past).rgb());
    EXPECT_EQ(pixel(1, 300'000), view.colours().of(OpKind::load_pages).rgb());
    EXPECT_EQ(pixel(1, 700'000), view.colours().panel.rgb());
    EXPECT_EQ(pixel(2, 950'000), view.colours().of(OpKind::store_pages).rgb());
}

TEST_F(StreamsViewTest, AClickSelectsAndTheDetailsTellAll) {
    show_step(a_step());
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, at(0, 600'000));
    EXPECT_EQ(focus.selected(), 2U);
    const QString text = details().toPlainText();
    for (const char* part : {"attention past", "compute", "fill", "12", "3", "0.000500 s",
                             "200 us (200,000 ns)", "0.1 GFLOP, 0.5 TFLOP/s", "Idle before",
                             "load pages (chunk 12, layer 3) on to device", "qkv (chunk 12, layer 3)"})
        EXPECT_TRUE(text.contains(part)) << part << "\n" << text.toStdString();
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, at(1, 300'000));
    EXPECT_TRUE(details().toPlainText().contains("19.07 MiB, 50.0 GB/s"));
    // A click into a stall selects the op that waits; one beside everything selects nothing.
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, at(0, 400'000));
    EXPECT_EQ(focus.selected(), 2U);
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, at(2, 300'000));
    EXPECT_EQ(focus.selected(), kNone);
}

TEST_F(StreamsViewTest, LinksLeadToWhatItWaitsFor) {
    show_step(a_step());
    focus.select(2);
    Q_EMIT details().anchorClicked(QUrl("op:1"));
    EXPECT_EQ(focus.selected(), 1U);
    EXPECT_TRUE(details().toHtml().contains("op:2"));  // waited by
    EXPECT_TRUE(details().toHtml().contains("op:0"));
}

TEST_F(StreamsViewTest, TheSelectionIsOutlinedWithItsDependencies) {
    show_step(a_step());
    const QImage before = view.canvas().grab().toImage();
    focus.select(2);
    const QImage image = view.canvas().grab().toImage();
    const QRect row = view.canvas().lane_rect(0);
    EXPECT_EQ(image.pixelColor(at(0, 600'000).x(), row.top()), view.colours().selection);
    // Between the lanes runs a line from the end of the load to the start of the op.
    const int y = (row.bottom() + view.canvas().lane_rect(1).top()) / 2;
    int lines = 0;
    for (int x = 0; x < image.width(); ++x) lines += image.pixelColor(x, y) != before.pixelColor(x, y);
    EXPECT_GT(lines, 0);
}

TEST_F(StreamsViewTest, ArrowsStepAlongTheLaneAndBetweenLanes) {
    show_step(a_step());
    const auto key = [&](Qt::Key k) { QTest::keyClick(&view.canvas(), k); };
    key(Qt::Key_Right);
    EXPECT_EQ(focus.selected(), 0U);
    key(Qt::Key_Right);
    EXPECT_EQ(focus.selected(), 2U);
    key(Qt::Key_Right);
    key(Qt::Key_Right);
    EXPECT_EQ(focus.selected(), 3U);
    key(Qt::Key_Left);
    EXPECT_EQ(focus.selected(), 2U);
    key(Qt::Key_Down);
    EXPECT_EQ(focus.selected(), 1U);
    key(Qt::Key_Down);
    EXPECT_EQ(focus.selected(), 4U);
    key(Qt::Key_Down);
    EXPECT_EQ(focus.selected(), 4U);
    key(Qt::Key_Up);
    EXPECT_EQ(focus.selected(), 1U);
    key(Qt::Key_Up);
    EXPECT_EQ(focus.selected(), 0U);
    key(Qt::Key_Right);
    key(Qt::Key_F);
    EXPECT_EQ(focus.range(), (TimeRange{480'000, 720'000}));
}

TEST_F(StreamsViewTest, ADoubleClickFitsTheOp) {
    show_step(a_step());
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, at(0, 600'000));
    QTest::mouseDClick(&view.canvas(), Qt::LeftButton, {}, at(0, 600'000));
    EXPECT_EQ(focus.range(), (TimeRange{480'000, 720'000}));
}

TEST_F(StreamsViewTest, SearchFindsAndSteps) {
    show_step(a_step());
    QTest::keyClick(&view.canvas(), Qt::Key_F, Qt::ControlModifier);
    EXPECT_TRUE(search().hasFocus());
    find("kind:attention_past chunk:12");
    ASSERT_NE(view.hits(), nullptr);
    EXPECT_EQ(view.hits()->in_time, (std::vector<OpId>{2, 3}));
    EXPECT_TRUE(says("2 ops"));
    QTest::keyClick(&search(), Qt::Key_Return);
    EXPECT_EQ(focus.selected(), 2U);
    EXPECT_TRUE(says("1 of 2"));
    QTest::keyClick(&search(), Qt::Key_Return);
    EXPECT_EQ(focus.selected(), 3U);
    QTest::keyClick(&search(), Qt::Key_Return, Qt::ShiftModifier);
    EXPECT_EQ(focus.selected(), 2U);
    QTest::keyClick(&view.canvas(), Qt::Key_F3);
    EXPECT_EQ(focus.selected(), 3U);
    QTest::mouseClick(&button("Next hit"), Qt::LeftButton);
    EXPECT_EQ(focus.selected(), 2U);
    QTest::mouseClick(&button("Previous hit"), Qt::LeftButton);
    EXPECT_EQ(focus.selected(), 3U);
    focus.select(kNone);
    settle();
    const QImage image = view.canvas().grab().toImage();
    EXPECT_EQ(image.pixelColor(at(0, 600'000).x(), view.canvas().lane_rect(0).top() + 1),
              view.colours().selection);
    EXPECT_NE(image.pixelColor(at(0, 150'000).x(), view.canvas().lane_rect(0).top() + 1),
              view.colours().selection);
    search().setFocus();
    QTest::keyClick(&search(), Qt::Key_Escape);
    EXPECT_TRUE(view.canvas().hasFocus());
    find("chunk:soon");
    EXPECT_TRUE(says("'soon'"));
    EXPECT_EQ(view.hits(), nullptr);
    EXPECT_FALSE(button("Next hit").isEnabled());
    find("layer:99");
    EXPECT_TRUE(says("no op"));
    find("");
    EXPECT_EQ(view.hits(), nullptr);
}

TEST_F(StreamsViewTest, StatisticsAreOfTheViewOrTheMark) {
    show_step(a_step());
    const auto text = [](const RangeStatisticsModel& m, int row, int column) {
        return m.index(row, column).data().toString();
    };
    EXPECT_TRUE(says("In view: 0.000000 s to 0.001000 s (1.00 ms)"));
    ASSERT_EQ(view.streams().rowCount(), 3);
    EXPECT_EQ(text(view.streams(), 0, RangeStatisticsModel::kBusy), "70.0 %");
    EXPECT_EQ(text(view.kinds(), 0, RangeStatisticsModel::kName), "attention past");
    focus.mark(TimeRange{0, 200'000});
    settle();
    EXPECT_TRUE(says("Marked range: 0.000000 s to 0.000200 s (200 us)"));
    ASSERT_EQ(view.kinds().rowCount(), 2);
    EXPECT_EQ(text(view.kinds(), 1, RangeStatisticsModel::kName), "load pages");
    EXPECT_EQ(text(view.kinds(), 1, RangeStatisticsModel::kSum), "100 us");
    EXPECT_EQ(view.csv(), view.streams().csv() + "\n" + view.kinds().csv());
    focus.mark(std::nullopt);
    focus.set_range({900'000, 1'000'000});
    settle();
    ASSERT_EQ(view.kinds().rowCount(), 1);
    EXPECT_EQ(text(view.kinds(), 0, RangeStatisticsModel::kName), "store pages");
}

TEST_F(StreamsViewTest, StallsAreHatchedListedAndReached) {
    show_step(a_step());
    const auto hatched = [&] {
        const QImage image = view.canvas().grab().toImage();
        const QRect row = view.canvas().lane_rect(0);
        int lines = 0;
        for (int x = at(0, 310'000).x(); x < at(0, 490'000).x(); ++x)
            lines += image.pixelColor(x, row.top() + 4) != view.colours().panel;
        return lines > 0;
    };
    EXPECT_TRUE(hatched());
    QTest::mouseClick(&box("Stalls"), Qt::LeftButton, {}, {8, box("Stalls").height() / 2});
    EXPECT_FALSE(hatched());
    box("Stalls").setFocus();
    QTest::keyClick(&box("Stalls"), Qt::Key_Space);
    EXPECT_TRUE(hatched());
    EXPECT_TRUE(
        says("2 stalls, 300 us (30.0 % of the step), waiting for load pages 200 us, store pages 100 us"));
    view.findChild<QTabWidget*>()->setCurrentIndex(1);
    auto* table = view.findChild<QTableView*>("stalls");
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                      table->visualRect(view.stalls().index(0, 0)).center());
    EXPECT_EQ(focus.range(), (TimeRange{100'000, 700'000}));
    EXPECT_EQ(focus.selected(), 2U);
    table->setCurrentIndex(view.stalls().index(1, 0));
    Q_EMIT table->activated(view.stalls().index(1, 0));
    EXPECT_EQ(focus.selected(), 4U);  // what the end of the step waits for
}

TEST_F(StreamsViewTest, TheCriticalPathIsUnderlined) {
    show_step(a_step());
    const auto underlined = [&](size_t lane, int64_t ns) {
        const QImage image = view.canvas().grab().toImage();
        return image.pixelColor(at(lane, ns).x(), view.canvas().lane_rect(lane).bottom() + 2) ==
               view.colours().text;
    };
    EXPECT_TRUE(underlined(0, 600'000));
    EXPECT_TRUE(underlined(1, 300'000));
    EXPECT_FALSE(underlined(1, 700'000));
    box("Critical path").setFocus();
    QTest::keyClick(&box("Critical path"), Qt::Key_Space);
    EXPECT_FALSE(underlined(0, 600'000));
}

TEST_F(StreamsViewTest, ButtonsZoomAndFit) {
    show_step(a_step());
    QTest::mouseClick(&button("Zoom in"), Qt::LeftButton);
    EXPECT_EQ(focus.range(), (TimeRange{250'000, 750'000}));
    QTest::mouseClick(&button("Zoom out"), Qt::LeftButton);
    EXPECT_EQ(focus.range(), focus.whole());
    focus.set_range({1, 1000});
    QTest::mouseClick(&button("Fit"), Qt::LeftButton);
    EXPECT_EQ(focus.range(), focus.whole());
}

TEST_F(StreamsViewTest, LightAndDarkAndAsAPicture) {
    show_step(a_step());
    focus.select(2);
    for (const Palette& palette : {Palette::dark_one(), Palette::light()}) {
        view.set_palette(palette);
        QImage image(view.picture_size(), QImage::Format_ARGB32);
        QPainter painter(&image);
        view.draw(painter);
        painter.end();
        const QPoint point =
            view.canvas().mapTo(&view, QPoint(at(0, 150'000).x(), view.canvas().lane_rect(0).top() + 20));
        EXPECT_EQ(image.pixelColor(point).rgb(), palette.of(OpKind::qkv).rgb());
    }
}

TEST_F(StreamsViewTest, AnotherStepTakesItsPlace) {
    show_step(a_step());
    focus.select(2);
    TimelineMaker maker;
    maker.add(Stream::disk, OpKind::read_pages, 0, 500);
    show_step(maker.step());
    EXPECT_EQ(focus.selected(), kNone);
    ASSERT_EQ(view.streams().rowCount(), 1);
    EXPECT_EQ(view.streams().index(0, 0).data().toString(), "disk");
    document.close();
    EXPECT_FALSE(view.has_content());
    EXPECT_EQ(view.kinds().rowCount(), 0);
}

TEST_F(StreamsViewTest, ALargeStepIsShownAtEveryZoom) {
    show_step(make_step("random", random_timeline(4, 60'000)));
    for (int64_t length = focus.whole().end_ns; length > 50; length /= 7) {
        focus.set_range({focus.whole().end_ns / 3, focus.whole().end_ns / 3 + length});
        settle();
        ASSERT_NE(view.canvas().list(), nullptr);
        EXPECT_EQ(view.canvas().list()->axis.begin_ns, focus.range().begin_ns);
        view.canvas().grab();
    }
}

}  // namespace
}  // namespace headroom::gui::test
