#include "gui/view/lane_paint.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace headroom::gui::test
