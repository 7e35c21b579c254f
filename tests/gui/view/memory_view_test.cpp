#include "gui/view/memory_view.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QLabel>
#include <QPainter>
#include <QTest>
#include <QToolButton>

#include "gui/make_timeline.h"

namespace headroom::gui::test {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;

// A millisecond; the device is fullest at 400 us, with 9 of 10 GiB.
StepPtr a_step() {
    TimelineMaker maker;
    maker.capacity(Tier::device, 10 * kGi);
    maker.capacity(Tier::host, 4 * kGi);
    maker.add(Stream::compute, OpKind::qkv, 0, 500'000, {}, 1, 2);
    maker.add(Stream::compute, OpKind::down, 500'000, 1'000'000, {}, 1, 2);
    maker.memory(0, Tier::device, Category::weights, 4 * kGi);
    maker.memory(200'000, Tier::device, Category::activations, 2 * kGi);
    maker.memory(400'000, Tier::device, Category::activations, 5 * kGi);
    maker.memory(400'100, Tier::device, Category::activations, 3 * kGi);
    maker.memory(600'000, Tier::host, Category::kv, kGi);
    maker.memory(1'000'000, Tier::device, Category::weights, 4 * kGi);
    return maker.step();
}

class MemoryViewTest : public testing::Test {
protected:
    MemoryViewTest() : view(document, focus) {
        QObject::connect(&document, &Document::steps_changed,
                         [this] { focus.reset(document.step() ? document.step()->duration_ns() : 0); });
        view.resize(1200, 800);
        view.show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&view));
    }
    void show_step(StepPtr step) {
        document.set_measured(std::move(step));
        settle();
        view.canvas().setFocus();
    }
    void settle() {
        QTest::qWait(0);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !view.busy(); }, 20'000));
    }
    QRgb pixel(size_t strip, int64_t ns, double bytes) {
        const QRect r = view.canvas().strip_rect(strip);
        const MemoryCanvas::Scale scale = view.canvas().scale_of(strip);
        const double share = (bytes - scale.low_bytes) / (scale.high_bytes - scale.low_bytes);
        const QImage image = view.canvas().grab().toImage();
        return image
            .pixelColor(static_cast<int>(view.canvas().axis().x_of(ns)),
                        static_cast<int>(r.bottom() - share * r.height()))
            .rgb();
    }
    QString row(int r) {
        return view.instant().index(r, 0).data().toString() + " " +
               view.instant().index(r, 1).data().toString();
    }

    Document document;
    Focus focus;
    MemoryView view;
};

TEST_F(MemoryViewTest, SaysWhatItLacks) {
    EXPECT_FALSE(view.has_content());
    EXPECT_TRUE(view.csv().isEmpty());
    const QImage image = view.canvas().grab().toImage();
    int inked = 0;
    for (int x = 0; x < image.width(); ++x)
        inked += image.pixelColor(x, image.height() / 2) != view.colours().background;
    EXPECT_GT(inked, 0);
    TimelineMaker maker;
    maker.add(Stream::compute, OpKind::qkv, 0, 100);
    show_step(maker.step());  // without a sample
    EXPECT_FALSE(view.has_content());
    EXPECT_TRUE(view.csv().isEmpty());
}

TEST_F(MemoryViewTest, EachTierIsStackedByCategoryUnderItsCapacity) {
    show_step(a_step());
    const double gi = static_cast<double>(kGi);
    EXPECT_EQ(pixel(0, 300'000, 2 * gi), view.colours().of(Category::weights).rgb());
    EXPECT_EQ(pixel(0, 300'000, 5 * gi), view.colours().of(Category::activations).rgb());
    EXPECT_EQ(pixel(0, 300'000, 6.5 * gi), view.colours().panel.rgb());
    EXPECT_EQ(pixel(1, 800'000, 0.5 * gi), view.colours().of(Category::kv).rgb());
    EXPECT_EQ(pixel(1, 300'000, 0.6 * gi), view.colours().panel.rgb());
    // The peak lasts 100 ns of a millisecond, less than a pixel, and is there.
    EXPECT_EQ(pixel(0, 400'000, 8.5 * gi), view.colours().of(Category::activations).rgb());
    // The line of the capacity is dashed.
    const QRect strip = view.canvas().strip_rect(0);
    const QImage image = view.canvas().grab().toImage();
    const MemoryCanvas::Scale scale = view.canvas().scale_of(0);
    const int y = static_cast<int>(strip.bottom() + 1 - 10 * gi / scale.high_bytes * strip.height());
    int dashes = 0;
    for (int x = strip.left(); x < strip.right(); ++x) dashes += image.pixelColor(x, y) == view.colours().bad;
    EXPECT_GT(dashes, strip.width() / 3);
}

TEST_F(MemoryViewTest, TellsOfThePeakUntilThereIsACursor) {
    show_step(a_step());
    EXPECT_EQ(view.shown_ns(), 400'000);
    EXPECT_EQ(row(0), "device 9 GiB");
    EXPECT_EQ(row(1), "headroom of 10 GiB 1 GiB");
    EXPECT_EQ(row(2), "activations 5 GiB");
    EXPECT_EQ(row(3), "weights 4 GiB");
    QTest::mouseMove(&view.canvas(), {400, 200});
    QTest::mouseMove(&view.canvas(), {static_cast<int>(view.canvas().axis().x_of(700'000)), 200});
    EXPECT_NEAR(static_cast<double>(view.shown_ns()), 700'000, 2000);
    EXPECT_EQ(row(0), "device 7 GiB");
    EXPECT_EQ(row(4), "host 1 GiB");
    EXPECT_EQ(row(8), "compute: down (chunk 1, layer 2) ");
}

TEST_F(MemoryViewTest, KeysMoveFromChangeToChangeAndToThePeak) {
    show_step(a_step());
    const auto key = [&](Qt::Key k) { QTest::keyClick(&view.canvas(), k); };
    key(Qt::Key_Right);
    EXPECT_EQ(focus.cursor_ns(), 200'000);
    key(Qt::Key_Right);
    EXPECT_EQ(focus.cursor_ns(), 400'000);
    key(Qt::Key_Right);
    key(Qt::Key_Right);
    EXPECT_EQ(focus.cursor_ns(), 600'000);  // of the host
    key(Qt::Key_Left);
    EXPECT_EQ(focus.cursor_ns(), 400'100);
    focus.set_range({900'000, 950'000});
    key(Qt::Key_P);
    EXPECT_EQ(focus.cursor_ns(), 400'000);
    EXPECT_TRUE(focus.range().contains(400'000));
}

TEST_F(MemoryViewTest, ButtonsLeadToThePeakOfEachTier) {
    show_step(a_step());
    focus.set_range({900'000, 950'000});
    EXPECT_FALSE(view.findChild<QToolButton*>("peak_disk")->isVisible());
    QTest::mouseClick(view.findChild<QToolButton*>("peak_host"), Qt::LeftButton);
    EXPECT_EQ(focus.cursor_ns(), 600'000);
    auto* device = view.findChild<QToolButton*>("peak_device");
    device->setFocus();
    QTest::keyClick(device, Qt::Key_Space);
    EXPECT_EQ(focus.cursor_ns(), 400'000);
}

TEST_F(MemoryViewTest, BytesCanBeFittedToTheView) {
    show_step(a_step());
    EXPECT_EQ(view.canvas().scale_of(0).low_bytes, 0);
    EXPECT_GT(view.canvas().scale_of(0).high_bytes, static_cast<double>(10 * kGi));
    auto* near = view.findChild<QCheckBox*>();
    near->setFocus();
    QTest::keyClick(near, Qt::Key_Space);
    focus.set_range({390'000, 410'000});
    settle();
    const MemoryCanvas::Scale scale = view.canvas().scale_of(0);
    EXPECT_GT(scale.low_bytes, static_cast<double>(5 * kGi));
    EXPECT_LT(scale.low_bytes, static_cast<double>(6 * kGi));
    EXPECT_GT(scale.high_bytes, static_cast<double>(9 * kGi));
    EXPECT_LT(scale.high_bytes, static_cast<double>(10 * kGi));
}

TEST_F(MemoryViewTest, AClickSelectsWhatComputes) {
    show_step(a_step());
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {},
                      {static_cast<int>(view.canvas().axis().x_of(700'000)), 200});
    EXPECT_EQ(focus.selected(), 1U);
    QTest::keyClick(&view.canvas(), Qt::Key_F);
    EXPECT_EQ(focus.range().begin_ns, 400'000);  // a tenth beside it, and no further than the step
}

TEST_F(MemoryViewTest, AsATableAndAPicture) {
    show_step(a_step());
    const QList<QByteArray> lines = view.csv().split('\n');
    EXPECT_EQ(lines[0], "tier,time_ns,total_bytes,capacity_bytes,weights_bytes,kv_bytes,activations_bytes");
    const QByteArray peak = "device,400000," + QByteArray::number(qlonglong{9 * kGi}) + "," +
                            QByteArray::number(qlonglong{10 * kGi}) + "," +
                            QByteArray::number(qlonglong{4 * kGi}) + ",0," +
                            QByteArray::number(qlonglong{5 * kGi});
    EXPECT_TRUE(lines.contains(peak)) << view.csv().toStdString();
    for (const Palette& palette : {Palette::dark_one(), Palette::light()}) {
        view.set_palette(palette);
        QImage image(view.picture_size(), QImage::Format_ARGB32);
        QPainter painter(&image);
        view.draw(painter);
        painter.end();
        const QRect strip = view.canvas().strip_rect(0);
        const QPoint point = view.canvas().mapTo(&view, QPoint(strip.center().x(), strip.bottom() - 10));
        EXPECT_EQ(image.pixelColor(point).rgb(), palette.of(Category::weights).rgb());
    }
}

TEST_F(MemoryViewTest, ALongCurveKeepsItsPeakAtEveryZoom) {
    show_step(make_step("random", random_memory(6, 50'000)));
    const Peak peak = document.step()->statistics.peaks[0];
    for (int64_t length = focus.whole().end_ns; length > 100; length /= 9) {
        focus.set_range({peak.time_ns - length / 3, peak.time_ns - length / 3 + length});
        settle();
        ASSERT_NE(view.canvas().strips(), nullptr);
        int64_t most = 0;
        for (const MemoryColumn& column : view.canvas().strips()->strips[0].columns)
            most = std::max(most, column.total_bytes);
        EXPECT_EQ(most, peak.bytes);
        view.canvas().grab();
    }
    document.close();
    EXPECT_FALSE(view.has_content());
}

}  // namespace
}  // namespace headroom::gui::test
