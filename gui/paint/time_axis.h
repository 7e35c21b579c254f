// Time against pixels, and where ticks of a scale stand.
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

namespace headroom::gui {

// [begin_ns, end_ns) laid over [left, left + width) pixels. width > 0, end_ns > begin_ns.
struct TimeAxis {
    int64_t begin_ns = 0, end_ns = 1;
    double left = 0, width = 1;

    double ns_per_pixel() const { return static_cast<double>(end_ns - begin_ns) / width; }
    double x_of(int64_t ns) const { return left + static_cast<double>(ns - begin_ns) / ns_per_pixel(); }
    // The instant at the pixel; not clamped.
    int64_t ns_at(double x) const;
};

struct Tick {
    double value = 0;  // in ns or bytes
    QString label;
};
// Ticks of a time scale: multiples of 1, 2 or 5 of a power of ten ns, no nearer to each other than
// `least_px`, labelled with as many decimals as tell them apart ("1.25 s").
std::vector<Tick> time_ticks(const TimeAxis& axis, double least_px = 90);
// Of [0, most_bytes] over `height` pixels: multiples of powers of two of a binary unit ("64 GiB").
std::vector<Tick> byte_ticks(int64_t most_bytes, double height, double least_px = 28);

}  // namespace headroom::gui
