// The part of a page map that is looked at, as pixels.
#pragma once

#include <QColor>
#include <QImage>
#include <QRectF>
#include <cstdint>
#include <vector>

#include "gui/paint/page_map.h"
#include "gui/paint/palette.h"

namespace headroom::gui {

// Chunks [chunk0, chunk1) by pages [page0, page1), fractions included. Contract of a window of a map: it lies
// within the map and is not empty.
struct MapWindow {
    double chunk0 = 0, chunk1 = 1, page0 = 0, page1 = 1;
    double chunk_span() const { return chunk1 - chunk0; }
    double page_span() const { return page1 - page0; }
    bool operator==(const MapWindow&) const = default;
};
MapWindow whole_window(const PageMap& map);
// The window inside the map; spans no shorter than a few cells.
MapWindow clamped(const MapWindow& window, const PageMap& map);
// Zooms so that the point keeps its place; a factor below 1 shows less.
MapWindow zoomed(const MapWindow& window, double chunk_factor, double page_factor, double chunk, double page);

// A window laid over a rectangle: chunks to the right, pages upwards.
struct MapAxes {
    MapWindow window;
    QRectF plot;
    double x_of(double chunk) const {
        return plot.left() + (chunk - window.chunk0) / window.chunk_span() * plot.width();
    }
    double y_of(double page) const {
        return plot.bottom() - (page - window.page0) / window.page_span() * plot.height();
    }
    double chunk_at(double x) const {
        return window.chunk0 + (x - plot.left()) / plot.width() * window.chunk_span();
    }
    double page_at(double y) const {
        return window.page0 + (plot.bottom() - y) / plot.height() * window.page_span();
    }
};

// What a pixel shows, ordered by weight: state, share of the layers, home.
using CellValue = uint16_t;
CellValue value_of(const PageCell& cell, int64_t layers);
CellState state_of(CellValue value);
PastPlace home_of(CellValue value);
double share_of(CellValue value);  // of the layers, 0 to 1
inline constexpr size_t kCellValues = size_t{1} << 15;

// A pixel has the largest value of all cells that it touches, so that no selected page is lost at any size.
// Rows from the top. Cost: O(pixels + runs in view), and in the gradient pass up to O(chunks x pages in
// view).
std::vector<CellValue> fuse(const PageMap& map, Pass pass, int layer, const MapWindow& window, int width,
                            int height);

// Pale: resides; strong: read, the stronger the more layers read it.
QColor cell_colour(CellValue value, const Palette& palette);
QImage tile_image(const std::vector<CellValue>& values, int width, int height, const Palette& palette);

// Ticks of whole numbers over [first, last): multiples of 1, 2, 5 x 10^n (`binary`: of powers of two), no
// nearer than `least` apart.
std::vector<int64_t> whole_ticks(double first, double last, double least, bool binary);

}  // namespace headroom::gui
