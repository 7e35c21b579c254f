#include "gui/paint/curve_style.h"

#include <gtest/gtest.h>

#include <QPainter>
#include <set>

namespace headroom::gui::test {
namespace {

TEST(CurveStyle, SixAreToldApartByColourAndByMarker) {
    for (const Palette& palette : {Palette::light(), Palette::dark_one()}) {
        std::set<QRgb> colours;
        std::vector<QImage> shapes;
        for (size_t i = 0; i < 6; ++i) {
            const CurveStyle style = curve_style(i, palette);
            colours.insert(style.colour.rgb());
            QImage image(21, 21, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            painter.fillPath(marker_path(style.marker, QPointF(10.5, 10.5), 14), Qt::black);
            painter.end();
            for (const QImage& other : shapes) EXPECT_NE(image, other) << i;
            shapes.push_back(image);
        }
        EXPECT_EQ(colours.size(), 6U);
        EXPECT_EQ(curve_style(6, palette).colour, curve_style(0, palette).colour);
    }
}

TEST(CurveStyle, WhatDoesNotFitIsHollow) {
    const Palette palette = Palette::light();
    for (size_t i = 0; i < 6; ++i) {
        const CurveStyle style = curve_style(i, palette);
        for (const bool filled : {true, false}) {
            QImage image(21, 21, QImage::Format_RGB32);
            image.fill(palette.background);
            QPainter painter(&image);
            paint_marker(painter, style, QPointF(10.5, 10.5), 14, filled, palette.background);
            painter.end();
            EXPECT_EQ(image.pixelColor(10, 10).rgb(), (filled ? style.colour : palette.background).rgb())
                << i;
        }
    }
}

TEST(CurveStyle, ALegendHasLineAndMarkerAtAnyRatio) {
    const CurveStyle style = curve_style(0, Palette::light());
    const QPixmap pixmap = curve_pixmap(style, QSize(30, 16), 2, Qt::white);
    EXPECT_EQ(pixmap.size(), QSize(60, 32));
    EXPECT_EQ(pixmap.toImage().pixelColor(30, 16).rgb(), style.colour.rgb());
    EXPECT_EQ(pixmap.toImage().pixelColor(6, 15).rgb(), style.colour.rgb());
}

}  // namespace
}  // namespace headroom::gui::test
