#include "gui/view/lane_paint.h"

#include <gtest/gtest.h>

#include <QFontMetrics>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>

namespace headroom::gui::test {
namespace {

const TimeAxis kAxis{0, 1000, 0, 100};

TEST(Stretch, KeepsThePlaceOfAListAndMovesItWithTheRange) {
    const QRect lane(0, 10, 100, 40);
    EXPECT_EQ(Stretch(kAxis, kAxis).rect({20, 30}, lane), QRectF(20, 10, 30, 40));
    // Half the time in view: twice as wide, from the middle on.
    const Stretch zoomed(kAxis, TimeAxis{500, 1000, 0, 100});
    EXPECT_EQ(zoomed.x(50), 0);
    EXPECT_EQ(zoomed.rect({60, 10}, lane), QRectF(20, 10, 20, 40));
    EXPECT_EQ(zoomed.rect({10, 10}, lane).width(), 0);                   // outside now
    EXPECT_EQ(Stretch(kAxis, kAxis).rect({20, 0.01}, lane).width(), 1);  // a pixel at least
}

TEST(PaintBins, StackTheirKindsByShareFromTheBottom) {
    LaneList list;
    list.bins = {Bin{{0, 10}, OpKind::gate_up, 0.75, 0, 2}, Bin{{20, 10}, OpKind::norm, 0.001, 2, 1}};
    list.parts = {BinPart{0.25, OpKind::qkv}, BinPart{0.5, OpKind::gate_up}, BinPart{0.001, OpKind::norm}};
    QImage image(100, 100, QImage::Format_RGB32);
    image.fill(Qt::white);
    const Palette palette = Palette::light();
    QPainter painter(&image);
    paint_bins(painter, list, Stretch(kAxis, kAxis), QRect(0, 0, 100, 100), palette);
    painter.end();
    const auto rows_of = [&](int x, OpKind kind) {
        int rows = 0;
        for (int y = 0; y < 100; ++y) rows += image.pixel(x, y) == palette.of(kind).rgb() ? 1 : 0;
        return rows;
    };
    EXPECT_EQ(rows_of(5, OpKind::qkv), 25);
    EXPECT_EQ(rows_of(5, OpKind::gate_up), 50);
    EXPECT_EQ(image.pixel(5, 99), palette.of(OpKind::qkv).rgb());
    EXPECT_EQ(image.pixel(5, 10), QColor(Qt::white).rgb());
    EXPECT_EQ(rows_of(25, OpKind::norm), 1);  // however little: something ran there
    EXPECT_EQ(image.pixel(15, 99), QColor(Qt::white).rgb());
}

// What stands in a slice, by the pixels that are not of its ground.
TEST(PaintSlice, SaysAsMuchAsThereIsRoomFor) {
    const Palette palette = Palette::light();
    const Slice slice{{0, 0}, 0, OpKind::attention_past};
    const QRect lane(0, 0, 400, 30);
    const auto letters_until = [&](double width, const QRect& row, const QString& words) {
        QImage image(400, 30, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        paint_slice(painter, slice, QRectF(0, 0, width, row.height()), row, palette, [&] { return words; });
        painter.end();
        int last = -1;
        for (int x = 0; x < static_cast<int>(width) - 1; ++x) {
            for (int y = 0; y < row.height(); ++y) {
                if (image.pixel(x, y) != palette.of(slice.kind).rgb()) last = x;
            }
        }
        return last;
    };
    const QFontMetrics metrics{QGuiApplication::font()};
    const QString words = "attention past, layer 3 and so on";
    const int all = metrics.horizontalAdvance(words);
    const int whole = letters_until(all + 30, lane, words);
    EXPECT_GT(whole, all - 8);
    EXPECT_LT(letters_until(all - 10, lane, words), all - 10) << "the kind instead";
    EXPECT_EQ(letters_until(all - 10, lane, words),
              letters_until(all - 10, lane, "another text that is too long for it"));
    EXPECT_GT(letters_until(all - 10, lane, words), 0);
    EXPECT_EQ(letters_until(30, lane, words), -1) << "a few letters say nothing";
    EXPECT_EQ(letters_until(20, lane, "a"), -1);
    EXPECT_GT(letters_until(40, lane, "a"), 0);
    EXPECT_EQ(letters_until(all + 30, QRect(0, 0, 400, metrics.height() - 4), words), -1) << "too low";
}

TEST(PaintSlice, LeavesAPixelToTheNext) {
    const Palette palette = Palette::light();
    const Slice slice{{0, 0}, 0, OpKind::norm};
    QImage image(100, 10, QImage::Format_RGB32);
    for (const auto& [width, filled] : {std::pair{5, 5}, {6, 5}, {20, 19}, {100, 99}}) {
        image.fill(Qt::white);
        QPainter painter(&image);
        paint_slice(painter, slice, QRectF(0, 0, width, 10), QRect(0, 0, 101, 10), palette,
                    [] { return QString(); });
        painter.end();
        int n = 0;
        for (int x = 0; x < 100; ++x) n += image.pixel(x, 5) == palette.of(slice.kind).rgb() ? 1 : 0;
        EXPECT_EQ(n, filled) << width;
    }
}

}  // namespace
}  // namespace headroom::gui::test
