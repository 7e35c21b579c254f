#include "gui/paint/page_tile.h"

#include <cmath>

#include "program/chunk_step.h"
#include "program/selected.h"
#include "sim/program/small_plan.h"

namespace headroom::gui::test {
namespace {

using headroom::test::draw_chunked_plan;
using headroom::test::tiny_plan;
namespace draw = headroom::test::draw;

PageMap map_of(const Plan& plan) {
    Timeline t;
    t.traffic = chunk_step(plan, select_pages(plan)).traffic;
    return make_page_map(plan, t);
}

// The largest value of all cells that pixel (x, y) touches, cell by cell.
CellValue brute(const PageMap& map, Pass pass, int layer, const MapWindow& w, int width, int height, int x,
                int y) {
    CellValue most = 0;
    for (int64_t c = 0; c < map.chunks; ++c) {
        const double left = (static_cast<double>(c) - w.chunk0) / w.chunk_span() * width,
                     right = (static_cast<double>(c + 1) - w.chunk0) / w.chunk_span() * width;
        if (right <= x + 1e-6 || left >= x + 1 - 1e-6) continue;
        for (int64_t p = 0; p < map.pages; ++p) {
            const double bottom = (static_cast<double>(p) - w.page0) / w.page_span() * height,
                         top = (static_cast<double>(p + 1) - w.page0) / w.page_span() * height;
            const int from_bottom = height - 1 - y;
            if (top <= from_bottom + 1e-6 || bottom >= from_bottom + 1 - 1e-6) continue;
            const PageCell cell = map.cell(pass, layer, c, p);
            const int64_t layers = layer == kAllLayers ? map.layers : 1;
            most = std::max(most, value_of(cell, layers));
        }
    }
    return most;
}

TEST(PageTile, ValuesKeepStateShareAndHome) {
    for (const auto state : {CellState::resident, CellState::own, CellState::read, CellState::cached,
                             CellState::first_touched}) {
        for (const auto home : {PastPlace::device, PastPlace::host, PastPlace::disk}) {
            const CellValue v = value_of({state, home, 7}, 28);
            EXPECT_EQ(state_of(v), state);
            EXPECT_EQ(home_of(v), home);
            EXPECT_NEAR(share_of(v), 0.25, 1.0 / 255);
            EXPECT_LT(v, kCellValues);
        }
    }
    // One layer of very many is still seen.
    EXPECT_GT(share_of(value_of({CellState::read, PastPlace::device, 1}, 10'000)), 0);
    EXPECT_LT(value_of({CellState::own, PastPlace::disk, 0}, 28),
              value_of({CellState::read, PastPlace::device, 1}, 28));
}

TEST(PageTile, OnePixelACellIsTheCell) {
    Plan plan = tiny_plan(5, 32, 24);
    plan.decisions.kv_residency = {1, 1, 2};
    const PageMap map = map_of(plan);
    const int w = static_cast<int>(map.chunks), h = static_cast<int>(map.pages);
    for (const Pass pass : {Pass::fill, Pass::gradient}) {
        const auto values = fuse(map, pass, 0, whole_window(map), w, h);
        for (int x = 0; x < w; ++x) {
            for (int y = 0; y < h; ++y)
                EXPECT_EQ(values[static_cast<size_t>(y * w + x)],
                          value_of(map.cell(pass, 0, x, h - 1 - y), 1))
                    << x << " " << y;
        }
    }
}

TEST(PageTile, OneSelectedPageOfTenThousandIsSeen) {
    Plan plan = tiny_plan(64, 2048, 2048);  // 64 chunks of 256 pages
    plan.decisions.attention.sparse = true;
    plan.decisions.attention.block = 2048;
    plan.decisions.attention.budget = 1;
    plan.decisions.attention.sink = 1;
    plan.decisions.attention.local = 0;
    const PageMap map = map_of(plan);
    ASSERT_EQ(map.pages, 16'384);
    const auto values = fuse(map, Pass::gradient, 0, whole_window(map), 64, 16);
    for (int x = 2; x < 64; ++x)
        EXPECT_GE(state_of(values[static_cast<size_t>(15 * 64 + x)]), CellState::read) << x;
}

RC_GTEST_PROP(PageTile, AnyWindowAndSizeIsTheLargestCellOfEachPixel, ()) {
    const Plan plan = draw_chunked_plan();
    const PageMap map = map_of(plan);
    MapWindow w;
    w.chunk0 = static_cast<double>(draw::in(0, map.chunks * 10 - 5)) / 10;
    w.chunk1 = w.chunk0 + static_cast<double>(draw::in(5, map.chunks * 10)) / 10;
    w.page0 = static_cast<double>(draw::in(0, map.pages * 10 - 5)) / 10;
    w.page1 = w.page0 + static_cast<double>(draw::in(5, map.pages * 10)) / 10;
    w = clamped(w, map);
    const int width = static_cast<int>(draw::in(1, 30)), height = static_cast<int>(draw::in(1, 30));
    const int layer = static_cast<int>(draw::in(-1, map.layers - 1));
    const Pass pass = draw::of({Pass::fill, Pass::gradient});
    const auto values = fuse(map, pass, layer, w, width, height);
    for (int x = 0; x < width; ++x) {
        for (int y = 0; y < height; ++y)
            RC_ASSERT(values[static_cast<size_t>(y * width + x)] ==
                      brute(map, pass, layer, w, width, height, x, y));
    }
}

TEST(PageTile, ReadPagesStandOutFromThoseThatOnlyReside) {
    for (const Palette& palette : {Palette::light(), Palette::dark_one()}) {
        for (const auto home : {PastPlace::device, PastPlace::host, PastPlace::disk}) {
            const QColor resident = cell_colour(value_of({CellState::resident, home, 0}, 28), palette),
                         faint = cell_colour(value_of({CellState::read, home, 1}, 28), palette),
                         strong = cell_colour(value_of({CellState::read, home, 28}, 28), palette);
            const auto apart = [](const QColor& a, const QColor& b) {
                return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) +
                       std::abs(a.blue() - b.blue());
            };
            EXPECT_GT(apart(palette.background, resident), 20);
            EXPECT_GT(apart(strong, cell_colour(value_of({CellState::cached, home, 28}, 28), palette)), 60);
            EXPECT_GT(apart(resident, faint), 40);
            EXPECT_GT(apart(faint, strong), 60);
        }
    }
}

TEST(PageTile, TheImageHasTheColoursOfTheValues) {
    const Palette palette = Palette::light();
    const std::vector<CellValue> values{0, value_of({CellState::own, PastPlace::host, 0}, 1),
                                        value_of({CellState::read, PastPlace::disk, 1}, 1), 0};
    const QImage image = tile_image(values, 2, 2, palette);
    EXPECT_EQ(image.pixelColor(0, 0), palette.background);
    EXPECT_EQ(image.pixelColor(1, 0), palette.faint_text);
    EXPECT_EQ(image.pixelColor(0, 1).rgb(), palette.of(Tier::disk).rgb());
}

TEST(MapWindow, StaysWithinTheMap) {
    const PageMap map = map_of(tiny_plan(9, 32, 32));  // 9 x 36
    EXPECT_EQ(clamped({-2, 3, -4, 10}, map), (MapWindow{0, 5, 0, 14}));
    EXPECT_EQ(clamped({-20, 300, -40, 100}, map), whole_window(map));
    EXPECT_EQ(clamped({5, 5.5, 20, 21}, map), (MapWindow{3.25, 7.25, 16.5, 24.5}));
}

TEST(MapWindow, ZoomKeepsThePointInItsPlace) {
    const MapAxes before{{0, 100, 0, 1000}, QRectF(50, 10, 400, 300)};
    const MapAxes after{zoomed(before.window, 0.5, 0.25, 25, 400), before.plot};
    EXPECT_DOUBLE_EQ(after.x_of(25), before.x_of(25));
    EXPECT_DOUBLE_EQ(after.y_of(400), before.y_of(400));
    EXPECT_DOUBLE_EQ(after.window.chunk_span(), 50);
    EXPECT_DOUBLE_EQ(after.window.page_span(), 250);
    EXPECT_DOUBLE_EQ(before.chunk_at(150), 25);
    EXPECT_DOUBLE_EQ(before.page_at(10), 1000);
    EXPECT_DOUBLE_EQ(before.page_at(310), 0);
}

TEST(WholeTicks, AreRound) {
    EXPECT_EQ(whole_ticks(0, 10, 2.5, false), (std::vector<int64_t>{0, 5, 10}));
    EXPECT_EQ(whole_ticks(3.2, 6, 0.1, false), (std::vector<int64_t>{4, 5, 6}));
    EXPECT_EQ(whole_ticks(90, 420, 70, false), (std::vector<int64_t>{100, 200, 300, 400}));
    EXPECT_EQ(whole_ticks(0, 1000, 200, true), (std::vector<int64_t>{0, 256, 512, 768}));
}

}  // namespace
}  // namespace headroom::gui::test
