#include "gui/paint/page_tile.h"

#include <algorithm>
#include <cmath>

namespace headroom::gui {
namespace {

constexpr double kLeastChunks = 4, kLeastPages = 8;
// Edges of pixels and cells that fall together in exact arithmetic may not quite in double.
constexpr double kSlack = 1e-7;

struct Span {
    int64_t first = 0, last = 0;  // [first, last)
};
// Cells touched by the part [from, to) of an axis with `count` cells.
Span cells_of(double from, double to, int64_t count) {
    const auto first = static_cast<int64_t>(std::floor(from + kSlack));
    const auto last = static_cast<int64_t>(std::ceil(to - kSlack));
    return {std::clamp<int64_t>(first, 0, count), std::clamp<int64_t>(std::max(last, first + 1), 0, count)};
}

class Fusion {
public:
    Fusion(const PageMap& map, Pass pass, int layer, const MapWindow& window, int height)
        : map_(map), pass_(pass), layer_(layer), reads_(map.reads(pass, layer)), height_(height) {
        const double span = window.page_span() / height;
        for (int y = 0; y < height; ++y) {
            const double top = window.page1 - y * span;
            rows_.push_back(cells_of(top - span, top, map.pages));
        }
        first_ = rows_.back().first;
        last_ = rows_.front().last;
        top_row_.assign(static_cast<size_t>(last_ - first_), height);
        bottom_row_.assign(static_cast<size_t>(last_ - first_), -1);
        for (int y = 0; y < height; ++y) {
            for (int64_t p = rows_[static_cast<size_t>(y)].first; p < rows_[static_cast<size_t>(y)].last;
                 ++p) {
                const size_t i = static_cast<size_t>(p - first_);
                top_row_[i] = std::min(top_row_[i], y);
                bottom_row_[i] = std::max(bottom_row_[i], y);
            }
        }
        total_ = layer == kAllLayers ? map.layers : 1;
        const auto& zones = map.zones[index_of(pass)];
        const bool stays = map.stays(pass, layer);
        zones_[1] = stays ? map.pages : std::min(zones[0], map.pages);
        zones_[2] = stays ? map.pages : std::min(zones[1], map.pages);
        zones_[3] = map.pages;
    }

    void add(int64_t chunk, std::vector<CellValue>& column) const {
        const int64_t own = chunk * map_.pages_per_chunk;
        if (pass_ == Pass::gradient) {
            existing(chunk, own, column);
        } else {
            const int64_t kept = map_.kept_until(layer_, chunk);
            paint(0, std::min(own, kept), CellState::resident, 0, column);
            paint(own, kept, CellState::own, 0, column);
        }
        paint(reads_.reads, chunk, CellState::read, column);
        paint(reads_.cached, chunk, CellState::cached, column);
        paint(reads_.touches, chunk, CellState::first_touched, column);
    }

private:
    // Sums of dK and dV that exist at `chunk`. Later pages lie farther away, so the last one of a row
    // decides.
    void existing(int64_t chunk, int64_t own, std::vector<CellValue>& column) const {
        const int64_t end = std::min(own + map_.pages_per_chunk, map_.pages);
        for (int y = 0; y < height_; ++y) {
            const Span& row = rows_[static_cast<size_t>(y)];
            for (int64_t p = std::min(row.last, end) - 1; p >= row.first; --p) {
                if (reads_.last_reader[static_cast<size_t>(p)] < chunk) continue;
                const PageCell cell{p >= own ? CellState::own : CellState::resident,
                                    map_.home(pass_, layer_, p), 0};
                column[static_cast<size_t>(y)] =
                    std::max(column[static_cast<size_t>(y)], value_of(cell, total_));
                break;
            }
        }
    }
    void paint(const ChunkRuns& runs, int64_t chunk, CellState state, std::vector<CellValue>& column) const {
        const std::span<const PageRun> row = runs.of(chunk);
        auto run = std::partition_point(row.begin(), row.end(),
                                        [&](const PageRun& r) { return int64_t{r.last} <= first_; });
        for (; run != row.end() && run->first < last_; ++run)
            paint(run->first, run->last, state, run->layers, column);
    }
    void paint(int64_t first, int64_t last, CellState state, int64_t layers,
               std::vector<CellValue>& column) const {
        for (size_t zone = 0; zone < 3; ++zone) {
            const int64_t from = std::max({first, zones_[zone], first_}),
                          to = std::min({last, zones_[zone + 1], last_});
            if (from >= to) continue;
            const CellValue value = value_of({state, static_cast<PastPlace>(zone), layers}, total_);
            const int top = top_row_[static_cast<size_t>(to - 1 - first_)],
                      bottom = bottom_row_[static_cast<size_t>(from - first_)];
            for (int y = top; y <= bottom; ++y)
                column[static_cast<size_t>(y)] = std::max(column[static_cast<size_t>(y)], value);
        }
    }

    const PageMap& map_;
    Pass pass_;
    int layer_;
    const LayerReads& reads_;
    int height_;
    std::vector<Span> rows_;  // pages of each row
    int64_t first_ = 0, last_ = 0, total_ = 1;
    std::vector<int> top_row_, bottom_row_;  // by page in view
    int64_t zones_[4] = {0, 0, 0, 0};        // pages [i, i + 1) live on the device, the host, the disk
};

QColor mixed(const QColor& a, const QColor& b, double share) {
    const auto part = [&](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
    return QColor(part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue()));
}

}  // namespace

MapWindow whole_window(const PageMap& map) {
    return {0, static_cast<double>(map.chunks), 0, static_cast<double>(map.pages)};
}

MapWindow clamped(const MapWindow& window, const PageMap& map) {
    const auto fit = [](double& from, double& to, double least, double count) {
        const double span = std::clamp(to - from, std::min(least, count), count);
        const double centre = (from + to) / 2;
        const double begin = span == to - from ? from : centre - span / 2;
        from = std::clamp(begin, 0.0, count - span);
        to = from + span;
    };
    MapWindow w = window;
    fit(w.chunk0, w.chunk1, kLeastChunks, static_cast<double>(map.chunks));
    fit(w.page0, w.page1, kLeastPages, static_cast<double>(map.pages));
    return w;
}

MapWindow zoomed(const MapWindow& w, double chunk_factor, double page_factor, double chunk, double page) {
    return {chunk + (w.chunk0 - chunk) * chunk_factor, chunk + (w.chunk1 - chunk) * chunk_factor,
            page + (w.page0 - page) * page_factor, page + (w.page1 - page) * page_factor};
}

CellValue value_of(const PageCell& cell, int64_t layers) {
    // A share above 0 stays above 0.
    const int64_t share = layers > 0 ? ceil_div(cell.layers * 255, layers) : 0;
    return static_cast<CellValue>(
        (static_cast<int64_t>(cell.state) << 12) | (share << 4) |
        static_cast<int64_t>(cell.state == CellState::none ? PastPlace::device : cell.home));
}

CellState state_of(CellValue value) {
    return static_cast<CellState>(value >> 12);
}

PastPlace home_of(CellValue value) {
    return static_cast<PastPlace>(value & 15);
}

double share_of(CellValue value) {
    return static_cast<double>((value >> 4) & 255) / 255;
}

std::vector<CellValue> fuse(const PageMap& map, Pass pass, int layer, const MapWindow& window, int width,
                            int height) {
    std::vector<CellValue> values(static_cast<size_t>(width) * static_cast<size_t>(height), 0);
    if (values.empty() || map.chunks == 0 || map.pages == 0) return values;
    const Fusion fusion(map, pass, layer, window, height);
    std::vector<CellValue> column(static_cast<size_t>(height), 0);
    Span before{-1, -1};
    for (int x = 0; x < width; ++x) {
        const double span = window.chunk_span() / width;
        const Span chunks = cells_of(window.chunk0 + x * span, window.chunk0 + (x + 1) * span, map.chunks);
        if (chunks.first != before.first || chunks.last != before.last) {
            std::fill(column.begin(), column.end(), CellValue{0});
            for (int64_t c = chunks.first; c < chunks.last; ++c) fusion.add(c, column);
            before = chunks;
        }
        for (int y = 0; y < height; ++y)
            values[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)] =
                column[static_cast<size_t>(y)];
    }
    return values;
}

QColor cell_colour(CellValue value, const Palette& palette) {
    const PastPlace place = home_of(value);
    const QColor home = palette.of(place == PastPlace::device ? Tier::device
                                   : place == PastPlace::host ? Tier::host
                                                              : Tier::disk);
    switch (state_of(value)) {
        case CellState::none:
            return palette.background;
        case CellState::resident:
            return mixed(palette.background, home, palette.dark ? 0.28 : 0.2);
        case CellState::own:
            return palette.faint_text;
        case CellState::read:
            return mixed(palette.background, home, 0.5 + 0.5 * share_of(value));
        case CellState::cached:
            return mixed(palette.background, palette.of(Category::page_cache), 0.5 + 0.5 * share_of(value));
        case CellState::first_touched:
            return palette.text;
    }
    return palette.background;
}

QImage tile_image(const std::vector<CellValue>& values, int width, int height, const Palette& palette) {
    std::vector<QRgb> colours(kCellValues, 0);
    QImage image(width, height, QImage::Format_RGB32);
    for (int y = 0; y < height; ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        const CellValue* row = values.data() + static_cast<size_t>(y) * static_cast<size_t>(width);
        for (int x = 0; x < width; ++x) {
            QRgb& colour = colours[row[x]];
            if (colour == 0) colour = cell_colour(row[x], palette).rgb();
            line[x] = colour;
        }
    }
    return image;
}

std::vector<int64_t> whole_ticks(double first, double last, double least, bool binary) {
    int64_t step = 1;
    if (binary) {
        while (static_cast<double>(step) < least) step *= 2;
    } else {
        for (int64_t power = 1;; power *= 10) {
            const int64_t steps[] = {power, 2 * power, 5 * power};
            const auto* found = std::find_if(std::begin(steps), std::end(steps),
                                             [&](int64_t s) { return static_cast<double>(s) >= least; });
            if (found == std::end(steps)) continue;
            step = *found;
            break;
        }
    }
    std::vector<int64_t> ticks;
    for (int64_t t = static_cast<int64_t>(std::ceil(first / static_cast<double>(step))) * step;
         static_cast<double>(t) <= last; t += step)
        ticks.push_back(t);
    return ticks;
}

}  // namespace headroom::gui
